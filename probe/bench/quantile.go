package main

import (
	"math"
	"slices"
)

// quantile returns the value below which the given share of the values lies, from 0 to 1, with linear interpolation
// between two values (Hyndman and Fan, "Sample Quantiles in Statistical Packages", definition 7). There must be at
// least one value.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	position := share * float64(len(sorted)-1)
	below, above := sorted[int(math.Floor(position))], sorted[int(math.Ceil(position))]
	return below + (above-below)*(position-math.Floor(position))
}

func median(values []float64) float64 { return quantile(values, 0.5) }
