package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPlainHTTPStaysOnThisHost asks servers without TLS. One elsewhere gets no request, wherever its name comes from.
func TestPlainHTTPStaysOnThisHost(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, "http://registry.example.com/", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	client := http.Client{Transport: transport()}
	for url, refused := range map[string]string{
		server.URL: "",
		strings.Replace(server.URL, "127.0.0.1", "localhost", 1): "",
		server.URL + "/elsewhere":                                "registry.example.com",
		"http://10.0.0.1:5000":                                   "10.0.0.1:5000",
		"http://localhost.example.com":                           "localhost.example.com",
		"http://127.0.0.1.example.com":                           "127.0.0.1.example.com",
	} {
		response, err := client.Get(url)
		if err == nil {
			response.Body.Close()
		}
		if refused == "" && err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if refused != "" && (err == nil || !strings.Contains(err.Error(), `"`+refused+`": plain HTTP is only for`)) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
