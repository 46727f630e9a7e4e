package github

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// checkProxy returns an error if the environment names an impossible proxy: net/http would connect without a proxy. The
// address may hold a password, so the error does not repeat the address.
func checkProxy() error {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		value := os.Getenv(name)
		if value == "" {
			continue
		}
		if !strings.Contains(value, "://") {
			value = "http://" + value
		}
		if !isProxy(value) {
			return fmt.Errorf("reading $%s: it is not the address of a proxy, such as http://proxy.example.com:3128",
				name)
		}
		return nil // net/http takes the first that is set
	}
	return nil
}

func isProxy(address string) bool {
	proxy, err := url.Parse(address)
	if err != nil || proxy.Hostname() == "" ||
		!slices.Contains([]string{"http", "https", "socks5", "socks5h"}, proxy.Scheme) {
		return false
	}
	if proxy.Port() == "" {
		return true
	}
	port, err := strconv.Atoi(proxy.Port())
	return err == nil && port > 0 && port <= 65535
}
