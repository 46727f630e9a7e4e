package bridge

import "time"

// A place is all that one connection may use, from when it is accepted until its goroutine has ended and nothing that
// it asked for leads back to it. There are never more than maxPlaces, whoever calls, so all callers have at most
//
//	its buffers (conn), all of a fixed size: 1 KiB in, 1 KiB out, 4 KiB of a header block,
//	5 KiB of HPACK's table, 8 requests of 1 KiB and what is known about them                 22 KiB
//	its goroutine's stack, which nests few calls                                              8 KiB
//	the page that it is sent, up to smallPage                                                10 KiB
//	its socket in package net                                                                 1 KiB
//	                                                                                        -------
//	                                                               256 places of 41 KiB      10 MiB
//
// if each of them is an HTTP/2 connection with eight unfinished requests that gets a page of the greatest size and does
// not read it. Beside them there are
//
//	askings (questions), at most maxAskings + maxForeign at once, each with a goroutine and a call,
//	20 KiB, and what the server sends: some bytes, or 128 KiB if it sends as much as lean takes
//	pages over smallPage, largePages at once: they are of a server that lists hundreds of services
//
// and the kernel's buffers, which a cgroup of version 2 counts: twice socketBuffer each way, 4 MiB for all places. A
// test (TestPlaceIsWhatItSays) checks the sum of the buffers.
const (
	// maxPlaces is how many connections there may be at once, including those that have to end.
	maxPlaces = 256
	// placeSize is what the buffers of a place have at most, in bytes.
	placeSize = 22 << 10
	// maxStreams is how many requests a connection may have at once.
	maxStreams = 8
	// maxRequest is the greatest size of a request's message, in bytes: a name, and fields that later versions may add.
	maxRequest = 1 << 10
	// maxService is the greatest length of a service's name, in bytes. The full name of a protobuf service has a
	// fraction of it.
	maxService = 256
	// maxHead is the greatest size of a request's head, in bytes: of an HTTP/2 header block, compressed, and of what it
	// decodes to. One of HTTP/1.1 may have twice as much, since it is read and forgotten line by line.
	maxHead = 4 << 10
	// readSize is how much is read at once, and the longest line of HTTP/1.1 that is looked at. writeSize is how much
	// is written at once. Both are in bytes.
	readSize, writeSize = 1 << 10, 1 << 10
	// socketBuffer is the size of the kernel's buffers of a connection, in bytes. The kernel doubles it for what it
	// needs itself (socket(7)).
	socketBuffer = 4 << 10
	// smallPage is the size of a page, in bytes, that each connection may get at the same time: as much as the kubelet
	// reads. largePages is how many may get a larger one.
	smallPage, largePages = 10 << 10, 2
)

// What a connection may do without asking anything: each frame and each line of HTTP/1.1 costs 1, and so do byteShare
// bytes. What the head of a request costs is given back with its answer. One that has spent all is closed.
const (
	// byteShare is how many bytes cost as much as a frame.
	byteShare = 64
	// allowance is what a connection has at first, and at most.
	allowance = 384
	// allowancePerSecond is what it gets back with time, and allowancePerAnswer with each answer of the server.
	allowancePerSecond, allowancePerAnswer = 10, 16
)

const (
	// requestTimeout is for a request to come as a whole.
	requestTimeout = 5 * time.Second
	// idleTimeout ends a connection that asks nothing.
	idleTimeout = time.Minute
	// writeTimeout is for taking an answer.
	writeTimeout = 2 * time.Second
)

const (
	// maxAskings is how many askings of questions that the flags name are under way at once, all questions together,
	// and maxAskingsOfOne how many of one question.
	maxAskings, maxAskingsOfOne = 96, 32
	// maxForeign is how many questions about services that no flag names are asked at once, and maxForeignOfOne how
	// many of those are one caller's.
	maxForeign, maxForeignOfOne = 16, 4
	// pause is the shortest time between two askings of the same question in the long run, and burst how many may come
	// without it. The server cannot be made to answer a question more than a hundred times a second, however often
	// callers ask.
	pause, burst = 10 * time.Millisecond, 4
	// spread is into how many parts the time is divided that the server takes for an answer: a caller who may not begin
	// an asking of his own waits for one of these parts at the longest, until the next begins.
	spread = 8
	// maxWatches and maxLists are how many calls of Watch and List there may be at once.
	maxWatches, maxLists = 16, 16
	// watchPeriod is how often the server is asked for those who watch.
	watchPeriod = time.Second
	// maxCallTimeout bounds the timeout of a call, which is given in up to eight digits of hours.
	maxCallTimeout = time.Hour
)

const (
	// ownFiles is how many files the bridge needs beside its connections: standard streams, the poller's, the listener,
	// the connections to the server, and files that flags name, which are read for an asking.
	ownFiles = 24
	// minPlaces is how many places there are even if there are hardly any files.
	minPlaces = 4
)

// placesFor returns how many places there are if so many files may be open.
func placesFor(files int) int { return max(minPlaces, min(maxPlaces, files-ownFiles)) }
