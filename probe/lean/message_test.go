package lean

import (
	"strings"
	"testing"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
)

// Messages are read, or refused, as the protobuf runtime does it.
func FuzzMessages(f *testing.F) {
	list, err := proto.Marshal(&healthpb.HealthListResponse{Statuses: map[string]*healthpb.HealthCheckResponse{
		"":  {Status: healthpb.HealthCheckResponse_SERVING},
		"a": {Status: healthpb.HealthCheckResponse_NOT_SERVING}, "b": {},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(list)
	for _, message := range []string{
		"", "\x08\x01", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x08\x01\x08\x02",
		"\x12\x03abc\x1d1234\x19" + "12345678",
		"\x0b\x0c", "\x00", "\x0a\x03\x0a\x01\xff", "\x0a\x06\x12\x02\x08\x01\x12\x00",
		"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
		"\x0b\x08\x01\x13\x14\x0c\x08\x02", "\x0b\x14", "\x0b\x13\x0c\x14", "\x0b\x12\x05a\x0c", "\x0b\x00\x0c",
		"\x0c", groups(maxGroups), groups(maxGroups + 1),
	} {
		f.Add([]byte(message))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		checkCheckResponse(t, message)
		checkListResponse(t, message)
	})
}

// groups returns a message with so many groups in each other.
func groups(n int) string { return strings.Repeat("\x0b", n) + strings.Repeat("\x0c", n) }

func checkCheckResponse(t *testing.T, message []byte) {
	t.Helper()
	var want healthpb.HealthCheckResponse
	wantErr := proto.Unmarshal(message, &want)
	got, err := parseCheckResponse(message)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("answer of Check: %v, protobuf says %v", err, wantErr)
	}
	if err == nil && got != int32(want.Status) {
		t.Errorf("status is %d, want %d", got, want.Status)
	}
}

func checkListResponse(t *testing.T, message []byte) {
	t.Helper()
	var want healthpb.HealthListResponse
	wantErr := proto.Unmarshal(message, &want)
	got := map[string]int32{}
	err := parseListResponse(message, func(service string, status int32) { got[service] = status })
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("answer of List: %v, protobuf says %v", err, wantErr)
	}
	if err != nil {
		return
	}
	if len(got) != len(want.Statuses) {
		t.Errorf("%d services, want %d", len(got), len(want.Statuses))
	}
	for service, status := range want.Statuses {
		if got[service] != int32(status.Status) {
			t.Errorf("status of %q is %d, want %d", service, got[service], status.Status)
		}
	}
}
