package main

import (
	"math"
	"slices"
)

// quantile returns the value below which a share of the values lies, from 0 to 1, between two of them in proportion
// (Hyndman and Fan, "Sample Quantiles in Statistical Packages", definition 7). There has to be a value.
func quantile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	position := share * float64(len(sorted)-1)
	below, above := sorted[int(math.Floor(position))], sorted[int(math.Ceil(position))]
	return below + (above-below)*(position-math.Floor(position))
}

func median(values []float64) float64 { return quantile(values, 0.5) }
