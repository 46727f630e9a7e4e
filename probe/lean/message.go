package lean

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// The messages of grpc.health.v1 (health.proto) in the encoding of protocol buffers. They have only a few fields, so
// the runtime that can decode any message is not linked: it has half a megabyte and takes a fifth of a probe's start.

// Wire types (protobuf encoding, "Message Structure").
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

var errMessage = errors.New("message is not a valid protocol buffer")

// appendCheckRequest appends a HealthCheckRequest: field 1, the service's name.
func appendCheckRequest(b []byte, service string) []byte {
	if service == "" {
		return b
	}
	b = append(b, 1<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(len(service)))
	return append(b, service...)
}

// parseCheckResponse returns the status of a HealthCheckResponse, which is field 1. Where the field is missing it is 0,
// UNKNOWN.
func parseCheckResponse(message []byte) (status int32, err error) {
	err = mergeCheckResponse(&status, message)
	return status, err
}

// mergeCheckResponse sets the status to that of a HealthCheckResponse that has one. A message that comes in parts is
// all parts together (protobuf encoding, "Last One Wins").
func mergeCheckResponse(status *int32, message []byte) error {
	return eachField(message, func(number, wire int, value uint64, _ []byte) error {
		if number == 1 && wire == wireVarint {
			*status = int32(value)
		}
		return nil
	})
}

// parseListResponse calls receive for each service of a HealthListResponse, with its status. They are in field 1, a
// map, which is encoded as repeated entries of key and value.
func parseListResponse(message []byte, receive func(service string, status int32)) error {
	return eachField(message, func(number, wire int, _ uint64, entry []byte) error {
		if number != 1 || wire != wireBytes {
			return nil
		}
		service, status, err := parseListEntry(entry)
		if err == nil {
			receive(service, status)
		}
		return err
	})
}

func parseListEntry(entry []byte) (service string, status int32, err error) {
	err = eachField(entry, func(number, wire int, _ uint64, value []byte) (err error) {
		switch {
		case number == 1 && wire == wireBytes:
			if !utf8.Valid(value) {
				return errMessage
			}
			service = string(value)
		case number == 2 && wire == wireBytes:
			err = mergeCheckResponse(&status, value)
		}
		return err
	})
	return service, status, err
}

// eachField calls visit for each field of a message, with its number, its wire type, and its value, which is a number
// or bytes.
func eachField(message []byte, visit func(number, wire int, value uint64, bytes []byte) error) error {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return errMessage
		}
		wire := int(tag & 7)
		value, bytes, rest, err := takeValue(wire, message[n:])
		if err != nil {
			return err
		}
		if err := visit(int(tag>>3), wire, value, bytes); err != nil {
			return err
		}
		message = rest
	}
	return nil
}

func takeValue(wire int, b []byte) (value uint64, bytes, rest []byte, err error) {
	var size int
	switch wire {
	case wireVarint, wireBytes:
		var n int
		if value, n = binary.Uvarint(b); n <= 0 {
			return 0, nil, nil, errMessage
		}
		b = b[n:]
		if wire == wireVarint {
			return value, nil, b, nil
		}
		if value > uint64(len(b)) {
			return 0, nil, nil, errMessage
		}
		size = int(value)
	case wire64:
		size = 8
	case wire32:
		size = 4
	default: // Groups are deprecated, and health.proto has none.
		return 0, nil, nil, errMessage
	}
	if size > len(b) {
		return 0, nil, nil, errMessage
	}
	return value, b[:size], b[size:], nil
}
