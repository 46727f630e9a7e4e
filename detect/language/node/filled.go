package node

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/node/ecmascript"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// mergesInto and setsKey give an object properties that the source does not name: Object.assign(config, data),
	// config[key] = value. setsProperty gives an object of another module one: config.grpc.port = 7000.
	mergesInto = lazyregexp.New(
		`\b(?:Object\.assign|(?:_|lodash)\.(?:merge|assign|extend)\w*|merge|deepmerge|extend)` +
			`\(\s*(?P<name>[\w$]+)\s*,`)
	setsKey      = lazyregexp.New(`(?:^|[^\w$.])(?P<name>[\w$]+)\[\s*[A-Za-z_$][\w$.]*\s*\]\s*=`)
	setsProperty = lazyregexp.New(
		`(?m)(?:^|[;{}])[ \t]*(?P<name>[\w$]+)\.(?P<path>[\w$]+(?:\.[\w$]+)*)\s*=\s*`)
	// fillsAny are in sources that may give objects of other modules properties.
	fillsAny = source.NewKeywords("Object.assign(", "merge(", "extend(", "Port =", "port =")
)

// anyProperty is the parameter by which a source declares that an object gets properties which it does not name.
const anyProperty = "**"

// givenTo returns the names of what other files may give to the property of an object, by its dotted name.
func (p *pass) givenTo(property string) []address.Name {
	object, path, ok := strings.Cut(property, ".")
	if !ok {
		return nil
	}
	of := p.exported(object)
	return []address.Name{{Path: address.ArgumentName(of, anyProperty)}, {Path: address.ArgumentName(of, path)}}
}

// declareFilled declares what the source gives to objects of other modules of the app.
func (p *pass) declareFilled() {
	object := func(name string) string {
		if e, ok := p.Imports[name]; ok && mayBeOwnModule(e.Module) {
			return moduleName(e.Module) + "." + cmp.Or(e.Name, "default")
		}
		return ""
	}
	for _, name := range p.filled().all {
		if of := object(name); of != "" {
			p.declares = append(p.declares, address.Declaration{Name: address.ArgumentName(of, anyProperty)})
		}
	}
	for _, m := range p.FindAll(setsProperty, address.MaxListeners) {
		path := p.Part(setsProperty, m, "path")
		of := object(p.Part(setsProperty, m, "name"))
		if of == "" || !listenParameter.MatchString(path) || !p.isAssigned(m[1]) {
			continue
		}
		name := address.ArgumentName(of, path)
		p.declares = append(p.declares, address.Declaration{Name: name, Value: p.value(p.Value(m[1]))})
	}
}

// filled are the objects of a source that get properties which it does not name, and the classes whose objects do.
type filled struct {
	all    []string // the names of the objects
	bodies []source.Span
}

// filled returns what is filled in the source.
func (p *pass) filled() filled {
	if p.fills != nil {
		return *p.fills
	}
	p.fills = &filled{}
	for _, m := range p.FindAll(mergesInto, address.MaxListeners) {
		p.fill(p.Part(mergesInto, m, "name"), m[0])
	}
	for _, m := range p.FindAll(setsKey, address.MaxListeners) {
		if p.isAssigned(m[1]) {
			p.fill(p.Part(setsKey, m, "name"), m[0])
		}
	}
	return *p.fills
}

// isAssigned reports whether an equals sign before an offset assigns, and is not part of == or =>.
func (p *pass) isAssigned(after int) bool {
	return after < len(p.Code) && p.Code[after] != '=' && p.Code[after] != '>'
}

// fill adds an object that gets properties at an offset.
func (p *pass) fill(name string, at int) {
	if name != "this" {
		p.fills.all = append(p.fills.all, name)
		return
	}
	for _, c := range p.classes() {
		if c.body.Contains(at) {
			p.fills.bodies = append(p.fills.bodies, c.body)
		}
	}
}

// has reports whether an assignment gives such an object its properties, or is that of such a field.
func (f filled) has(p *pass, a ecmascript.Assignment) bool {
	if slices.Contains(f.all, a.Name) && !strings.Contains(p.Slice(a.Value), "(") {
		_, isObject := p.Object(a.Value, 0)
		return isObject
	}
	for _, body := range f.bodies {
		if body.Contains(a.At) {
			_, open := p.Around(a.At, 0, "")
			return open == body.From-1 || bytes.HasSuffix(p.Code[:a.At], []byte("this."))
		}
	}
	return false
}
