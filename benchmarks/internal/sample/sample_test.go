package sample_test

import (
	"math"
	"testing"
	"time"

	"github.com/satchel-go/satchel/benchmarks/internal/sample"
)

func TestQuantile(t *testing.T) {
	t.Parallel()
	var s sample.Set
	for _, v := range []float64{5, 1, 4, 2, 3} {
		s.Add(v)
	}
	for q, want := range map[float64]float64{0: 1, 0.2: 1, 0.21: 2, 0.5: 3, 0.99: 5, 1: 5} {
		if got := s.Quantile(q); got != want {
			t.Errorf("quantile %v: got %v, want %v", q, got, want)
		}
	}
	s.Add(0)
	if got := s.Median(); got != 2 {
		t.Errorf("median after another value: got %v, want 2", got)
	}
	if s.Len() != 6 || s.Sum() != 15 || s.Max() != 5 {
		t.Errorf("len %d, sum %v, max %v", s.Len(), s.Sum(), s.Max())
	}
}

func TestEmptySetHasNoQuantile(t *testing.T) {
	t.Parallel()
	var s sample.Set
	if !math.IsNaN(s.Median()) || !math.IsNaN(s.Max()) {
		t.Error("an empty set has a median")
	}
}

func TestDurationsAreMilliseconds(t *testing.T) {
	t.Parallel()
	var s sample.Set
	s.AddDuration(1500 * time.Microsecond)
	if got := s.Median(); got != 1.5 {
		t.Errorf("got %v, want 1.5", got)
	}
}
