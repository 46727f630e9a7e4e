package lean

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// The messages of grpc.health.v1 (health.proto) in the encoding of protocol buffers. The messages have only a few
// fields, so the runtime for any message is not linked: the runtime has half a megabyte and takes a fifth of a probe's
// start.

// Wire types (protobuf encoding, "Message Structure").
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wireGroup  = 3
	wireEnd    = 4
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

// parseCheckResponse returns the status, field 1 of a HealthCheckResponse, or 0 (UNKNOWN) if the field is missing.
func parseCheckResponse(message []byte) (status int32, err error) {
	err = mergeCheckResponse(&status, message)
	return status, err
}

// mergeCheckResponse sets the status if a HealthCheckResponse has one. A message in parts is the merger of all parts
// (protobuf encoding, "Last One Wins").
func mergeCheckResponse(status *int32, message []byte) error {
	return eachField(message, func(number, wire int, value uint64, _ []byte) error {
		if number == 1 && wire == wireVarint {
			*status = int32(value)
		}
		return nil
	})
}

// parseListResponse calls receive for each service of a HealthListResponse, with the status of the service. The
// services are in field 1, a map, encoded as repeated entries of key and value.
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

// eachField calls visit for each field of a message, with the number, the wire type and the value: a number or bytes. A
// group, which no message here has, has no value.
func eachField(message []byte, visit func(number, wire int, value uint64, bytes []byte) error) error {
	for len(message) > 0 {
		number, wire, rest, err := takeTag(message)
		if err != nil {
			return err
		}
		value, bytes, rest, err := takeValue(number, wire, rest)
		if err != nil {
			return err
		}
		if err := visit(number, wire, value, bytes); err != nil {
			return err
		}
		message = rest
	}
	return nil
}

func takeTag(b []byte) (number, wire int, rest []byte, err error) {
	tag, n := binary.Uvarint(b)
	if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
		return 0, 0, nil, errMessage
	}
	return int(tag >> 3), int(tag & 7), b[n:], nil
}

// maxGroups is the greatest depth of groups, as in google.golang.org/protobuf: 10000 levels below the first.
const maxGroups = 10001

// skipGroup returns the bytes after the group with the number. b begins with the group's fields.
func skipGroup(number int, b []byte) (rest []byte, err error) {
	for open := []int{number}; len(open) > 0; {
		number, wire, fields, err := takeTag(b)
		if err != nil {
			return nil, err
		}
		switch b = fields; wire {
		case wireGroup:
			open = append(open, number)
		case wireEnd:
			if open[len(open)-1] != number {
				return nil, errMessage
			}
			open = open[:len(open)-1]
		default:
			if _, _, b, err = takeValue(number, wire, b); err != nil {
				return nil, err
			}
		}
		if len(open) > maxGroups {
			return nil, errMessage
		}
	}
	return b, nil
}

func takeValue(number, wire int, b []byte) (value uint64, bytes, rest []byte, err error) {
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
	case wireGroup:
		rest, err = skipGroup(number, b)
		return 0, nil, rest, err
	default:
		return 0, nil, nil, errMessage
	}
	if size > len(b) {
		return 0, nil, nil, errMessage
	}
	return value, b[:size], b[size:], nil
}

// agrees reports whether a google.rpc.Status (google/rpc/status.proto) has the code. An unreadable Status counts as no
// details.
func agrees(status string, code int32) bool {
	var own int32
	err := eachField([]byte(status), func(number, wire int, value uint64, bytes []byte) error {
		switch {
		case number == 1 && wire == wireVarint:
			own = int32(value)
		case number == 2 && wire == wireBytes && !utf8.Valid(bytes):
			return errMessage
		case number == 3 && wire == wireBytes:
			return checkAny(bytes)
		}
		return nil
	})
	return err != nil || own == code
}

// checkAny returns an error for a message that is no google.protobuf.Any.
func checkAny(message []byte) error {
	return eachField(message, func(number, wire int, _ uint64, value []byte) error {
		if number == 1 && wire == wireBytes && !utf8.Valid(value) {
			return errMessage
		}
		return nil
	})
}
