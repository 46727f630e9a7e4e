package lean

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// The messages of grpc.health.v1 (health.proto), as protocol buffers put them on the wire. They are a handful of fields,
// so the runtime that could decode any message, half a megabyte and a fifth of a probe's start, is not linked.

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

// parseCheckResponse returns the status of a HealthCheckResponse, field 1; absent, it is 0, UNKNOWN.
func parseCheckResponse(message []byte) (status int32, err error) {
	err = mergeCheckResponse(&status, message)
	return status, err
}

// mergeCheckResponse sets the status to that of a HealthCheckResponse, if it has one: a message that comes in parts is
// all of them (protobuf encoding, "Last One Wins").
func mergeCheckResponse(status *int32, message []byte) error {
	return eachField(message, func(number, wire int, value uint64, _ []byte) error {
		if number == 1 && wire == wireVarint {
			*status = int32(value)
		}
		return nil
	})
}

// parseListResponse hands the services of a HealthListResponse with their statuses to receive: field 1, a map, which is
// on the wire as repeated entries of key and value.
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

// eachField calls visit with each field of a message: its number, wire type, and value, a number or bytes.
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
	size := 0
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
