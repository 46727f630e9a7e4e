package node

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/language/node/ecmascript"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// fillsObject gives an object properties that the source does not name: Object.assign(config, data),
	// config[key] = value. setsProperty gives an object of another module one: config.grpc.port = 7000.
	fillsObject = lazyregexp.New(
		`\b(?:Object\.assign|(?:_|lodash)\.(?:merge|assign|extend)\w*|merge|deepmerge|extend)` +
			`\(\s*(?P<name>[\w$]+)\s*,|` +
			`(?:^|[^\w$.])(?P<name>[\w$]+)\[\s*[A-Za-z_$][\w$.]*\s*\]\s*=[^=>]`)
	setsProperty = lazyregexp.New(
		`(?m)(?:^|[;{}])[ \t]*(?P<name>[\w$]+)\.(?P<path>[\w$]+(?:\.[\w$]+)*)\s*=\s*[^=>\s]`)
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
	for _, m := range p.FindAll(fillsObject, address.MaxListeners) {
		if of := object(p.Part(fillsObject, m, "name")); of != "" {
			p.declares = append(p.declares, address.Declaration{Name: address.ArgumentName(of, anyProperty)})
		}
	}
	for _, m := range p.FindAll(setsProperty, address.MaxListeners) {
		path := p.Part(setsProperty, m, "path")
		if of := object(p.Part(setsProperty, m, "name")); of != "" && listenParameter.MatchString(path) {
			name := address.ArgumentName(of, path)
			p.declares = append(p.declares, address.Declaration{Name: name, Value: p.value(p.Value(m[1] - 1))})
		}
	}
}

// filled are the objects of a source that get properties which it does not name, and the classes whose objects do.
type filled struct {
	names  map[string]bool
	bodies []source.Span
}

// readFilled returns what is filled in the source.
func (p *pass) readFilled() filled {
	f := filled{names: map[string]bool{}}
	for _, m := range p.FindAll(fillsObject, address.MaxListeners) {
		name := p.Part(fillsObject, m, "name")
		if name != "this" {
			f.names[name] = true
			continue
		}
		for _, c := range p.classes() {
			if c.body.Contains(m[0]) {
				f.bodies = append(f.bodies, c.body)
			}
		}
	}
	return f
}

// has reports whether an assignment gives such an object its properties, or is that of such a field.
func (f filled) has(p *pass, a ecmascript.Assignment) bool {
	if f.names[a.Name] && !strings.Contains(p.Slice(a.Value), "(") {
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
