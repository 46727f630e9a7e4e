package address

import (
	"maps"
	"math"
	"strconv"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// sum is a name and a number that is added to it.
var sum = lazyregexp.New(`^\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\+\s*([1-9]\d{0,3})\s*$`)

// sum adds a number to the ports of a name. If anything else may give the name, they are not known: what gives the sum
// would be another value.
func (e *evaluation) sum(name expression, number string) {
	of := evaluation{Names: e.Names, seen: maps.Clone(e.seen)}
	of.evaluate(name)
	n, err := strconv.Atoi(number)
	others := len(of.sockets) + len(of.before) + len(of.undeclared) + len(of.others) + len(of.variables) +
		len(of.givers)
	if err != nil || others > 0 || of.unclear {
		return
	}
	e.outside = e.outside || of.outside
	for _, f := range of.found {
		if f.Port > 0 && f.Port+n <= math.MaxUint16 {
			e.add(Address{Host: f.Host, Port: f.Port + n}, f.at)
		}
	}
}
