// Package sample reduces repeated measurements to a few numbers.
package sample

import (
	"math"
	"slices"
	"time"
)

// Set is a collection of measurements. The zero value is empty and ready for use; it
// has one user at a time.
type Set struct {
	values []float64
	sorted bool
}

// Add adds a measurement.
func (s *Set) Add(v float64) {
	s.values = append(s.values, v)
	s.sorted = false
}

// AddDuration adds a duration, in milliseconds.
func (s *Set) AddDuration(d time.Duration) { s.Add(Milliseconds(d)) }

// Len returns the number of measurements.
func (s *Set) Len() int { return len(s.values) }

// Quantile returns the smallest measurement that at least the share q of all does not
// exceed, or NaN for an empty set.
func (s *Set) Quantile(q float64) float64 {
	if len(s.values) == 0 {
		return math.NaN()
	}
	if !s.sorted {
		slices.Sort(s.values)
		s.sorted = true
	}
	i := int(math.Ceil(q*float64(len(s.values)))) - 1
	return s.values[min(max(i, 0), len(s.values)-1)]
}

// Median returns the middle measurement, of two the smaller.
func (s *Set) Median() float64 { return s.Quantile(0.5) }

// Max returns the largest measurement, or NaN for an empty set.
func (s *Set) Max() float64 { return s.Quantile(1) }

// Sum returns the sum of all measurements.
func (s *Set) Sum() float64 {
	sum := 0.0
	for _, v := range s.values {
		sum += v
	}
	return sum
}

// Milliseconds converts a duration.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
