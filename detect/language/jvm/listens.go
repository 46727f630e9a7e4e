package jvm

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// onBuilder precedes the call of a builder's method. Kotlin may omit the builder, as in apply { http(8080) }.
const onBuilder = `(?:\.\s*|[{;\n][ \t]*)`

var listens = []analyzer.Listen{
	{
		Code: lazyregexp.New(`\b(?:(?:(?:Netty|OkHttp|Xds|Alts)?ServerBuilder|GrpcServers)\s*\.\s*` +
			`(?:forPort|forAddress)|newServerBuilderForPort|GrpcServerHost)\s*\(`),
		Argument: 1,
	},
	{Code: lazyregexp.New(`\bVertxServerBuilder\s*\.\s*forPort\s*\(`), Argument: -1},
	{Code: lazyregexp.New(`\bVertxServerBuilder\s*\.\s*forAddress\s*\(`), Argument: -1, Host: 2},
	{
		Code:  lazyregexp.New(`\b(?:def|val)\s+port\s*(?::\s*Int\s*)?=\s*(?P<address>[^\n]+)`),
		Needs: lazyregexp.New(`\bscalapb\.zio_grpc\b`),
	},
	{
		Code:  lazyregexp.New(`\bGrpcServer\s*\.\s*(?:default|defaultServer|netty)\s*(?:\[[^\]]*\]\s*)?\(`),
		Needs: lazyregexp.New(`\bhigherkindness\b`), Argument: 1,
	},
	{Code: lazyregexp.New(`\bnew\s+ProtocolConfig\s*\(`), Argument: 2},
	{
		Code:  lazyregexp.New(`\.\s*(?:listen|setPort)\s*\(`),
		Needs: lazyregexp.New(`\bio\.vertx\b`), Argument: 1, Host: 2,
	},
	{
		Code:  lazyregexp.New(onBuilder + `(?:https?|port)\s*\(`),
		Needs: lazyregexp.New(`\b(?:com\.linecorp\.armeria\.server|io\.helidon)\b`), Argument: 1,
	},
	{Code: lazyregexp.New(`\b(?:newServerAt|toHost|toHostHttps)\s*\(`), Name: "port", Argument: 2, Host: 1},
	{Code: lazyregexp.New(`\bbindAndHandle\w*\s*\(`), Name: "port", Argument: 3, Host: 2},
	{
		Code:  lazyregexp.New(`(?:\bnew\s+Server|\.\s*(?:setPort|addHttps?Listener))\s*\(`),
		Needs: lazyregexp.New(`\bio\.grpc\.servlet\b`), Argument: 1,
	},
	{Code: lazyregexp.New(`\bWebConfig\s*\(`), Needs: lazyregexp.New(`\bmisk\.web\b`), Name: "port", Argument: 1},
}

// transports find the security of a server.
var transports = []analyzer.Rule{
	{
		Code: lazyregexp.New(onBuilder + `useTransportSecurity\s*\(\s*[^)\s]|\bGrpcSslContexts\s*\.\s*forServer\b|` +
			`\bTlsServerCredentials\s*\.\s*(?:create|newBuilder)\b|` +
			`\b(?:UseTransportSecurity|SetSslContext)\s*\(|\.\s*enableHttps\s*\(|` +
			`\bSslConnectionFactory\s*\(|` + onBuilder + `sslContext\s*\(|` +
			`\baddHttpsListener\s*\(|\.\s*sslConfig\s*\(|` +
			`\b(?:setSsl(?:Enabled)?|sslEnabled|setSSLEnabled)\s*\(\s*true\b|\b(?:isS|s)sl\s*=\s*true\b|` +
			`\b(?:ConnectionContext\.httpsServer|HttpsConnectionContext)\b`),
		Proves: finding.UsesTLS,
	},
	{
		Code:    lazyregexp.New(onBuilder + `https\s*\(|\bSessionProtocol\s*\.\s*HTTPS\b|\.\s*tls(?:Config)?\s*\(`),
		Imports: lazyregexp.New(`^(?:com\.linecorp\.armeria\.server|io\.helidon)\b`), Proves: finding.UsesTLS,
	},
	{
		Code:    lazyregexp.New(onBuilder + `http\s*\(`),
		Imports: lazyregexp.New(`^com\.linecorp\.armeria\.server\b`), Proves: finding.Insecure,
	},
	{Code: lazyregexp.New(`\bInsecureServerCredentials\b`), Proves: finding.Insecure},
	{
		Code: lazyregexp.New(`\b(?:Alts|Xds)Server\w+|` + onBuilder + `(?:p|setP)rotocolNegotiator\s*\(|` +
			`ChannelBuilder\b[^;]{0,400}\bsslContext\s*\(|\b(?:setSsl(?:Enabled)?|sslEnabled)\s*\(\s*[^)\stf]|` +
			`\b(?:isS|s)sl\s*=\s*[^=\stf]`),
		Proves: finding.UsesOther,
	},
}

const modifiers = `(?:(?:public|private|protected|internal|override|static|final|lateinit|implicit|lazy|const)\s+)*`

// declarations are the syntax for a name with a value, by the extension of the file.
var declarations = map[string][]*lazyregexp.Regexp{
	".java": {
		lazyregexp.New(`\b(?:int|short|Integer|String|var|InetSocketAddress|SocketAddress)\s+(?P<name>\w+)\s*=\s*`),
		lazyregexp.New(`(?:^|[;{})])\s*(?:this\s*\.\s*)?(?P<name>\w+)\s*=\s*`),
		lazyregexp.New(`\b(?:int|Integer)\s+(?P<name>\w+)\s*\(\s*\)\s*\{\s*return\s+`),
	},
	".kt": {
		lazyregexp.New(`\b(?:val|var)\s+(?P<name>\w+)(?:\s*:\s*[\w.?]+)?\s*=\s*`),
		lazyregexp.New(`(?:^|[;{}\n])[ \t]*(?:this\s*\.\s*)?(?P<name>\w+)\s*=\s*`),
	},
	".scala": {
		lazyregexp.New(`\b(?:val|var|def)\s+(?P<name>\w+)(?:\s*\(\s*\))?(?:\s*:\s*[\w.]+)?\s*=\s*`),
	},
}

// ends are the bytes that end a value, by the extension of the file.
var ends = map[string]string{".java": ";,", ".kt": "\n;,)", ".scala": "\n;,)"}

// option is a value from the command line or a setting, by annotation: @Value("${grpc.port:9090}") int port.
var option = lazyregexp.New(`@(?:Value|Option|Parameter|ConfigProperty)\s*\((?P<value>[^()]*)\)\s*` +
	modifiers + `(?:(?:va[lr]\s+)?(?P<name>\w+)\s*:|(?:int|Integer|String)\s+(?P<name>\w+)\b)`)

// mutableName is a field or a parameter with a default that other files may replace.
var mutableName = lazyregexp.New(`(?:\bvar|[(,]\s*(?:\w+\s+)?val)\s+(?P<name>\w+)(?:\s*:\s*[\w.?]+)?\s*=\s*`)

var mutable = map[string]*lazyregexp.Regexp{
	".java": lazyregexp.New(`\b(?:public|private|protected)\s+(?:static\s+|volatile\s+)*` +
		`(?:int|short|Integer|String)\s+(?P<name>\w+)\s*=\s*`),
	".kt": mutableName, ".scala": mutableName,
}

func namesIn(t *source.Text, ext string) *address.Names {
	names := address.Read(t, ends[ext], declarations[ext]...)
	for _, pattern := range []*lazyregexp.Regexp{option, mutable[ext]} {
		for _, m := range t.FindAll(pattern, maxOptions) {
			name, _ := t.Group(pattern, m, "name")
			value := source.Span{From: m[2], To: m[3]}
			if pattern != option {
				value = source.Span{From: m[1], To: t.Until(m[1], ends[ext])}
			}
			names.DeclareOption(name, "", value)
		}
	}
	return names
}

// maxOptions is how many options of a source are read.
const maxOptions = 64

// listeners returns the listeners of a source, or the default listeners of the servers in found.
func listeners(t *source.Text, ext string, found []finding.Finding) []finding.Finding {
	all := analyzer.Listeners(namesIn(t, ext), listens)
	if len(all) > 0 {
		return all
	}
	for s := range finding.All[finding.Server](found) {
		all = append(all, analyzer.DefaultListener(frameworks, s.Framework, s.Line)...)
	}
	return all
}
