// Package sources tries one way after another to come by a server.
package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/servers"
)

// Source is one way to come by a server of type S.
type Source[S any] struct {
	// Name is what an error says about the source, such as "container".
	Name string
	// Find returns a server that is ready, or why the source has none.
	Find func(context.Context) (S, error)
}

// finalError marks an error after which no other source may be tried.
type finalError struct{ error }

func (f finalError) Unwrap() error { return f.error }

// Final wraps an error so that First stops there: for a server that was asked for by name and cannot be had, where
// any other server would be a silent surprise.
func Final(err error) error { return finalError{err} }

// First returns the first server that a source has. With none, the error matches servers.ErrUnavailable and joins the failure
// of every source in order, each under the source's name. Failures that were overcome are told to logf.
func First[S any](ctx context.Context, logf func(string, ...any), sources ...Source[S]) (S, error) {
	var none S
	var failures []error
	for _, source := range sources {
		if err := ctx.Err(); err != nil {
			failures = append(failures, context.Cause(ctx))
			break
		}
		server, err := source.Find(ctx)
		if err == nil {
			return server, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", source.Name, err))
		var final finalError
		if errors.As(err, &final) {
			break
		}
		logf("%s: %v", source.Name, err)
	}
	return none, fmt.Errorf("%w:\n%w", servers.ErrUnavailable, errors.Join(failures...))
}
