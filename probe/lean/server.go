package lean

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// The messages of grpc.health.v1 on the side of the server, for a program that answers health checks.

// ParseCheckRequest returns the name of the service, field 1 of a HealthCheckRequest.
func ParseCheckRequest(message []byte) (service string, err error) {
	err = eachField(message, func(number, wire int, _ uint64, value []byte) error {
		if number != 1 || wire != wireBytes {
			return nil
		}
		if !utf8.Valid(value) {
			return errMessage
		}
		service = string(value)
		return nil
	})
	return service, err
}

// AppendCheckResponse appends a HealthCheckResponse: field 1, the status. The encoding leaves out a status of 0.
func AppendCheckResponse(b []byte, status outcome.Status) []byte {
	if status == 0 {
		return b
	}
	return binary.AppendUvarint(append(b, 1<<3|wireVarint), uint64(uint32(status)))
}

// AppendListEntry appends an entry of a HealthListResponse: field 1, a map of statuses by service.
func AppendListEntry(b []byte, service string, status outcome.Status) []byte {
	response := AppendCheckResponse(nil, status)
	entry := appendCheckRequest(nil, service) // the key, also field 1
	entry = binary.AppendUvarint(append(entry, 2<<3|wireBytes), uint64(len(response)))
	entry = append(entry, response...)
	b = binary.AppendUvarint(append(b, 1<<3|wireBytes), uint64(len(entry)))
	return append(b, entry...)
}
