package peers

import (
	"os"
	"path"
	"sync/atomic"
	"testing"
)

// TestSameOutcome runs both probes for each row of the table on each server that it names.
func TestSameOutcome(t *testing.T) {
	met := make([]atomic.Bool, len(table)) // the rows that name a server
	var ran atomic.Int32                   // makers, of which some may be missing or not asked for
	t.Run("of", func(t *testing.T) {
		for _, m := range makers {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				m.need(t)
				ran.Add(1)
				for server, address := range m.start(t) {
					for i, row := range table {
						if row.names(t, m.name+"/"+server) {
							met[i].Store(true)
							t.Run(server+" "+row.title(), func(t *testing.T) {
								t.Parallel()
								row.check(t, server, address)
							})
						}
					}
				}
			})
		}
	})
	for i, row := range table {
		if int(ran.Load()) == len(makers) && !met[i].Load() {
			t.Errorf("row %q %q names no server", row.on, row.title())
		}
	}
}

// names tells whether the row is for server.
func (r row) names(t *testing.T, server string) bool {
	ok, err := path.Match(r.on, server)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// title is short: some flags are long.
func (r row) title() string {
	title := r.flags[:min(len(r.flags), 50)]
	if r.as != "" {
		title = "as " + r.as + " " + title
	}
	return title
}

// need skips the test if the maker's packages are missing, which in CI is an error.
func (m maker) need(t *testing.T) {
	missing := m.missing()
	if len(missing) == 0 {
		return
	}
	refuse := t.Skipf
	if os.Getenv("CI") == "true" {
		refuse = t.Fatalf
	}
	refuse("servers of %s need the Debian packages %q", m.name, missing)
}
