// Package openvex merges govulncheck's documents about several programs into an OpenVEX document. The products and
// subcomponents are package URLs for scanners to find in images (https://github.com/openvex/spec, version 0.2.0).
//
// Documents of govulncheck name no product, and escape the slashes in names of modules, so scanners match none of the
// statements. Begin with Merge; AddProduct adds images to the result.
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

// Statement says whether the products have a vulnerability.
type Statement struct {
	Vulnerability   Vulnerability `json:"vulnerability"`
	Products        []Product     `json:"products"`
	Status          string        `json:"status"`
	Justification   string        `json:"justification,omitempty"`
	ImpactStatement string        `json:"impact_statement,omitempty"`
	ActionStatement string        `json:"action_statement,omitempty"`
}

// Vulnerability is an entry of Go's database, with aliases such as CVE names.
type Vulnerability struct {
	ID          string   `json:"@id,omitempty"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
}

// Product is a program or an image, with the vulnerable components.
type Product struct {
	ID            string      `json:"@id"`
	Subcomponents []Component `json:"subcomponents,omitempty"`
}

// Component is a Go module linked into a program.
type Component struct {
	ID string `json:"@id"`
}

// The specification's names for govulncheck's outcomes.
const (
	affected    = "affected"
	notAffected = "not_affected"
	notPresent  = "vulnerable_code_not_present"
)

const author = "https://github.com/grpc-cnb/health-probe"

// action is the advice to users of an affected release.
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

// ProgramOf returns a Go program's package URL for scanners, the URL of the main module. All programs of a release have
// the same URL, in the buildpack, in the release, and in images of apps.
func ProgramOf(info *buildinfo.BuildInfo) string {
	return sbom.GoModule(info.Main.Path, info.Main.Version).PURL
}

// ImageOf returns the package URL of an image. The name may have a registry and a path. The digest identifies the image
// in any registry, so the URL has no qualifiers: scanners differ in the spelling of qualifiers.
func ImageOf(name, digest string) string {
	return "pkg:oci/" + name[strings.LastIndexByte(name, '/')+1:] + "@" + url.QueryEscape(digest)
}

// Merge makes a document for a product from the documents of several programs. The product gets the worst outcome of
// each vulnerability.
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

// add merges a statement of govulncheck into the document.
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

// identifiers returns the package URLs by which scanners know a module of govulncheck, whose documents escape slashes.
// For the standard library some scanners give the version with a v, some without.
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

// Affected returns the names of the products' vulnerabilities.
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

// AddProduct repeats the statements about the first product for another product with the same programs.
func (d *Document) AddProduct(id string) {
	for i := range d.Statements {
		s := &d.Statements[i]
		s.Products = append(s.Products, Product{id, s.Products[0].Subcomponents})
	}
}
