package bridge

import "time"

// A slot is all that a connection may use, from accept until the goroutine has ended and no round refers to the
// connection. There are at most maxSlots, so all callers together have at most
//
//	its buffers (conn), all of a fixed size: 1 KiB in, 1 KiB out, 4 KiB of a header block,
//	5 KiB of HPACK's table, 8 requests of 1 KiB and their state                              22 KiB
//	its goroutine's stack, which nests few calls                                              8 KiB
//	the page that it is sent, up to smallPage                                                10 KiB
//	its socket in package net                                                                 1 KiB
//	                                                                                        -------
//	                                                                256 slots of 41 KiB      10 MiB
//
// if each connection is of HTTP/2, has eight unfinished requests, and does not read a page of the greatest size.
// Besides, there are
//
//	rounds (scheduler), at most maxRounds + maxForeign at once, each with a goroutine and a call,
//	20 KiB, and what the server sends: some bytes, or 128 KiB if it sends as much as lean takes
//	pages over smallPage, maxLargePages at once, of a server that lists hundreds of services
//
// and the kernel's buffers, which a cgroup of version 2 counts: twice socketBuffer each way, 4 MiB for all slots. A
// test (TestSlotSize) checks the sum of the buffers.
const (
	// maxSlots is the greatest number of connections at once, including evicted ones that have not ended.
	maxSlots = 256
	// slotSize is the greatest size of a slot's buffers, in bytes.
	slotSize = 22 << 10
	// maxStreams is how many requests a connection may have at once.
	maxStreams = 8
	// maxRequest is the greatest size of a request's message, in bytes: a name, and fields of later versions.
	maxRequest = 1 << 10
	// maxService is the greatest length of a service's name, in bytes, several times that of a protobuf service.
	maxService = 256
	// maxHead is the greatest size of a request's head, in bytes: of an HTTP/2 header block, compressed and decoded.
	// HTTP/1.1 may have twice as much, since no line is kept.
	maxHead = 4 << 10
	// readSize is how many bytes are read at once, and the length from which on a line of HTTP/1.1 is ignored.
	// writeSize is how many bytes are written at once.
	readSize, writeSize = 1 << 10, 1 << 10
	// socketBuffer is the size of the kernel's buffers of a connection, in bytes. The kernel doubles the size for its
	// own needs (socket(7)).
	socketBuffer = 4 << 10
	// smallPage is the size of a page, in bytes, that all connections may get at the same time: as much as the kubelet
	// reads. maxLargePages is how many connections may get a larger one.
	smallPage, maxLargePages = 10 << 10, 2
)

// The allowance of a connection bounds what a caller sends without a question: each frame and each line of HTTP/1.1
// costs 1, and so do byteShare bytes. The cost of a request's head is refunded with the answer. A connection that has
// spent its allowance is closed.
const (
	byteShare = 64
	// maxAllowance is the allowance at first, and at most.
	maxAllowance = 384
	// allowancePerSecond and allowancePerAnswer are what time and each answer of the server add.
	allowancePerSecond, allowancePerAnswer = 10, 16
)

const (
	// requestTimeout is for a whole request to arrive.
	requestTimeout = 5 * time.Second
	// idleTimeout ends a connection without answers.
	idleTimeout = time.Minute
	// writeTimeout is for the caller to take an answer.
	writeTimeout = 2 * time.Second
)

const (
	// maxRounds is how many rounds of questions that the flags name are under way at once, and maxRoundsOfQuestion how
	// many of the same question.
	maxRounds, maxRoundsOfQuestion = 96, 32
	// maxForeign is how many rounds of foreign questions, about services that no flag names, are under way at once, and
	// maxForeignOfCaller how many of the same caller.
	maxForeign, maxForeignOfCaller = 16, 4
	// minInterval is the shortest time between two rounds of the same question in the long run, and burst how many may
	// start at once. Callers cannot make the server answer a question more than a hundred times a second.
	minInterval, burst = 10 * time.Millisecond, 4
	// spread is into how many parts the time of the server's answer is divided: if rounds are under way, the next
	// starts after a part at the latest.
	spread = 8
	// maxWatches and maxLists are how many calls of Watch and List there may be at once.
	maxWatches, maxLists = 16, 16
	// watchPeriod is how often the server is asked for a call of Watch.
	watchPeriod = time.Second
	// maxCallTimeout bounds the timeout of a call, which has up to eight digits of hours.
	maxCallTimeout = time.Hour
)

const (
	// ownFiles is how many files the bridge needs besides its connections: standard streams, the poller's, the
	// listener, the connections to the server, and the files of flags, which are read for a round.
	ownFiles = 24
	// minSlots is how many slots there are even if the process may open hardly any files.
	minSlots = 4
)

// slotsFor returns the number of slots of a process that may open so many files.
func slotsFor(files int) int { return max(minSlots, min(maxSlots, files-ownFiles)) }
