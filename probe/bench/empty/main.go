// Command empty does nothing: what it costs is what any Go program costs, the floor of a benchmark.
package main

func main() {}
