package node

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// fromOutside is in a value that the environment or the command line gives.
	fromOutside         = lazyregexp.New(`\benv\b|\bargv\b|\bargs\b`)
	variableDeclaration = lazyregexp.New(`\b(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]*)\s*(?::[^=;\n]+)?=\s*`)
	// assignment is also the declaration of a variable with its value.
	assignment = lazyregexp.New(`(?:^|[^\w$.])(?P<name>[A-Za-z_$][\w$]*)\s*(?::\s*[\w$\s|.<>\[\]]+)?=[^=>]`)
	// bareImport is what another module has, alone.
	bareImport = source.Exactly(`require\([^()]*\)(?:\s*\.[\w$]+)*`)
	// defaultCall takes the default of a setting in schemas: z.coerce.number().default(50051), Joi, env-var.
	defaultCall = lazyregexp.New(`\.default\(\s*`)
	// loopOf and loopEach go over the elements of a list.
	loopOf = lazyregexp.New(
		`\bfor\s*(?:await\s*)?\(\s*(?:const|let|var)\s+(?P<name>[\w$]+)\s+of\s+(?:(?P<list>[\w$]+)\s*\)|\[)`)
	loopEach = lazyregexp.New(
		`\b(?P<list>[\w$]+)\.(?:forEach|map)\(\s*(?:async\s*)?\(?\s*(?P<name>[\w$]+)\s*(?:\)\s*)?=>`)
	// keyArgument is the key of a setting, the first argument of get.
	keyArgument = lazyregexp.New("^(?:<[^()]*>)?\\(\\s*[\"'`]([\\w.:-]+)[\"'`]")
)

// variables returns the values of the names of the source. A name that has several values is left out, unless the
// others come from the environment or the command line: then the one that is written is the default.
func (p *pass) variables() *address.Names {
	if p.names != nil {
		return p.names
	}
	if p.bundled || len(p.Raw) > maxModule {
		p.names = p.bundledVariables()
	} else {
		p.names = address.Read(p.Text, "")
		filled := p.filled()
		for _, a := range p.Assigned() {
			switch {
			case filled.has(p, a):
			case a.Of != "":
				p.names.DeclareField(a.Name, a.Of, a.Value)
			case !bareImport.MatchString(p.Slice(a.Value)):
				p.names.Declare(a.Name, a.Value)
			}
		}
		p.names.DeleteUnclear(func(name, value string) bool {
			return !fromOutside.MatchString(value) && !address.UsesName(value, name) && !credentials.MatchString(value)
		})
		p.declareOptions()
		p.names.DeclareLoops(loopOf)
		p.names.DeclareLoops(loopEach)
		p.declareFunctions()
	}
	p.names.Global, p.names.ReadsSettings = p.global, true
	return p.names
}

// bundledVariables returns the variables that are set only once, if they are declared. In a bundle many variables
// share one short name.
func (p *pass) bundledVariables() *address.Names {
	d := address.Read(p.Text, ",;\n", variableDeclaration)
	assignments := map[string]int{}
	for _, m := range p.FindAll(assignment, -1) {
		assignments[p.Part(assignment, m, "name")]++
	}
	d.DeleteFunc(func(name string) bool { return assignments[name] > 1 })
	return d
}

// value returns what the source says of an expression.
func (p *pass) value(s source.Span) address.Value { return p.fieldValue("", s) }

// fieldValue returns what the source says of an expression that is the default of a field of something else, "" for
// none.
func (p *pass) fieldValue(of string, s source.Span) address.Value {
	isDefault := false
	if m := defaultCall.FindIndex(p.Code[s.From:s.To]); m != nil {
		s, isDefault = p.Element(s.From+m[1]), true
	}
	v := p.variables().FieldValue(of, s)
	if isDefault {
		v.Certainty = min(v.Certainty, address.Default)
	}
	for i, n := range v.Names {
		if object, key, ok := strings.Cut(n.Path, ".["); ok && n.Module != "" {
			key = strings.TrimSuffix(key, "]")
			v.Names[i].Path = strings.Trim(object+"."+key, ".")
			v.Names = append(v.Names, address.Name{Path: address.Key(key)})
		}
	}
	return v
}

// global returns what a name in an expression refers to outside of it. A setting that is asked for by a key is a part
// of the object that is asked, or has the key anywhere in the app.
func (p *pass) global(u address.Use) address.Name {
	dotted := u.Dotted
	if method := dotted[strings.LastIndexByte(dotted, '.')+1:]; strings.HasPrefix(method, "get") {
		if key := keyArgument.FindStringSubmatch(u.After); key != nil {
			of := p.refersTo(parent(dotted))
			of.Path += address.Key(key[1])
			return of
		}
	}
	if p.names.IsParameter(dotted, u.At) {
		return address.Name{}
	}
	return p.refersTo(dotted)
}

// validated is what Joi makes of the environment by a schema, taken out of the result: it has the schema's properties.
const validated = ".validate.value"

// refersTo returns what a dotted name refers to: a name of this file, or one of another module of the app.
func (p *pass) refersTo(dotted string) address.Name {
	dotted = strings.ReplaceAll(strings.TrimPrefix(dotted, "this."), validated, "")
	root, rest, _ := strings.Cut(dotted, ".")
	switch root {
	case "", "process", "this", "Number", "parseInt", "String", "require", "new", "await":
		return address.Name{}
	}
	e, ok := p.Imports[root]
	if !ok {
		return address.Name{Module: address.ThisFile, Path: dotted}
	}
	key := strings.Trim(strings.TrimPrefix(e.Name, "default")+"."+rest, ".")
	switch {
	case e.Module == configPackage && strings.HasPrefix(e.Name, "env"): // a module of the app that has the same name
	case e.Module == configPackage && key != "":
		return address.Name{Path: address.Key(key)}
	case !mayBeOwnModule(e.Module):
		return address.Name{}
	}
	return address.Name{Module: e.Module, Path: strings.Trim(e.Name+"."+rest, ".")}
}
