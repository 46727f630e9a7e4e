// Package openvex turns what govulncheck says of several programs into one OpenVEX document, whose products and
// subcomponents are package URLs that scanners find in images (https://github.com/openvex/spec, version 0.2.0).
//
// Documents of govulncheck go in. It names no product in them, and escapes the slashes in names of modules, so scanners
// match none of its statements. Begin with Merge; AddProduct adds images to its result.
package openvex

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/build/sbom"
)

// Document is an OpenVEX document.
type Document struct {
	Context    string      `json:"@context"`
	ID         string      `json:"@id"`
	Author     string      `json:"author"`
	Timestamp  time.Time   `json:"timestamp"`
	Version    int         `json:"version"`
	Tooling    string      `json:"tooling,omitempty"`
	Statements []Statement `json:"statements"`
}

// Statement says of one vulnerability whether the products have it.
type Statement struct {
	Vulnerability   Vulnerability `json:"vulnerability"`
	Products        []Product     `json:"products"`
	Status          string        `json:"status"`
	Justification   string        `json:"justification,omitempty"`
	ImpactStatement string        `json:"impact_statement,omitempty"`
	ActionStatement string        `json:"action_statement,omitempty"`
}

// Vulnerability is one of Go's database, with its other names, such as those of CVE.
type Vulnerability struct {
	ID          string   `json:"@id,omitempty"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
}

// Product is a program or an image, and what in it has the vulnerability.
type Product struct {
	ID            string      `json:"@id"`
	Subcomponents []Component `json:"subcomponents,omitempty"`
}

// Component is a Go module that is linked into a program.
type Component struct {
	ID string `json:"@id"`
}

// What the specification calls the outcomes that govulncheck knows.
const (
	affected    = "affected"
	notAffected = "not_affected"
	notPresent  = "vulnerable_code_not_present"
)

// author is who answers for the document.
const author = "https://github.com/grpc-cnb/health-probe"

// action is what users of an affected release can do.
const action = "use a later release of the buildpack, and build the images again"

// ErrNothing is the error of Merge if no statement is needed.
var ErrNothing = errors.New("no vulnerability is known of anything that the programs link")

// Read reads a document from a file.
func Read(file string) (*Document, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	document, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", file, err)
	}
	return document, nil
}

// Parse reads a document.
func Parse(content []byte) (*Document, error) {
	var document Document
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("parsing an OpenVEX document: %w", err)
	}
	return &document, nil
}

// Write writes the document to a file.
func (d *Document) Write(file string) error {
	content, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(content, '\n'), 0o644)
}

// ProgramOf returns the package URL under which scanners know a Go program, that of its main module. It is the same for
// all programs of a release, wherever they are: in the buildpack, in the release, and in images of apps.
func ProgramOf(info *buildinfo.BuildInfo) string {
	return sbom.GoModule(info.Main.Path, info.Main.Version).PURL
}

// ImageOf returns the package URL of an image, whose name may have a registry and a path. The digest says which image
// it is, in whichever registry, so there are no qualifiers, which scanners spell in different ways.
func ImageOf(name, digest string) string {
	return "pkg:oci/" + name[strings.LastIndexByte(name, '/')+1:] + "@" + url.QueryEscape(digest)
}

// Merge makes one document of those of several programs, which are one product. The worst outcome of a vulnerability
// is that of the product.
func Merge(product string, documents []*Document) (*Document, error) {
	merged := &Document{
		Context: "https://openvex.dev/ns/v0.2.0", ID: author + "/vex/" + url.PathEscape(product), Author: author,
		Version: 1,
	}
	for _, document := range documents {
		merged.Tooling = document.Tooling
		if document.Timestamp.After(merged.Timestamp) {
			merged.Timestamp = document.Timestamp
		}
		for _, statement := range document.Statements {
			merged.add(product, statement)
		}
	}
	if len(merged.Statements) == 0 {
		return nil, ErrNothing
	}
	slices.SortFunc(merged.Statements, func(a, b Statement) int {
		return strings.Compare(a.Vulnerability.Name, b.Vulnerability.Name)
	})
	return merged, nil
}

// add adds what a statement of govulncheck says.
func (d *Document) add(product string, statement Statement) {
	var found []string
	for _, p := range statement.Products {
		for _, component := range p.Subcomponents {
			found = append(found, identifiers(component.ID)...)
		}
	}
	at := slices.IndexFunc(d.Statements, func(s Statement) bool {
		return s.Vulnerability.Name == statement.Vulnerability.Name
	})
	if at < 0 {
		statement.Products = []Product{{ID: product}}
		at = len(d.Statements)
		d.Statements = append(d.Statements, statement)
	}
	s := &d.Statements[at]
	if severity(statement) > severity(*s) {
		s.Status, s.Justification = statement.Status, statement.Justification
		s.ImpactStatement = statement.ImpactStatement
	}
	if s.Status == affected {
		s.ActionStatement = action
	}
	for _, id := range found {
		if component := (Component{id}); !slices.Contains(s.Products[0].Subcomponents, component) {
			s.Products[0].Subcomponents = append(s.Products[0].Subcomponents, component)
		}
	}
}

// severity orders outcomes, the worst last.
func severity(s Statement) int {
	switch {
	case s.Status == notAffected && s.Justification == notPresent:
		return 0
	case s.Status == notAffected:
		return 1
	}
	return 2
}

// identifiers returns the package URLs under which scanners know a module that govulncheck names: it escapes slashes.
// Of the standard library some scanners give the version with a v and some without it.
func identifiers(purl string) []string {
	if unescaped, err := url.PathUnescape(purl); err == nil {
		purl = unescaped
	}
	path, version, _ := strings.Cut(strings.TrimPrefix(purl, "pkg:golang/"), "@")
	if path == "stdlib" {
		version = strings.TrimPrefix(version, "v")
		return []string{sbom.GoModule(path, "v"+version).PURL, sbom.GoModule(path, version).PURL}
	}
	return []string{sbom.GoModule(path, version).PURL}
}

// Affected returns the names of the vulnerabilities that the products have.
func (d *Document) Affected() []string {
	var names []string
	for _, statement := range d.Statements {
		if statement.Status != notAffected {
			names = append(names, statement.Vulnerability.Name)
		}
	}
	return names
}

// IsAbout reports whether all statements are about a product.
func (d *Document) IsAbout(product string) bool {
	return !slices.ContainsFunc(d.Statements, func(s Statement) bool {
		return !slices.ContainsFunc(s.Products, func(p Product) bool { return p.ID == product })
	})
}

// AddProduct says of one more product what is said of the first one, whose programs it has.
func (d *Document) AddProduct(id string) {
	for i := range d.Statements {
		s := &d.Statements[i]
		s.Products = append(s.Products, Product{id, s.Products[0].Subcomponents})
	}
}
