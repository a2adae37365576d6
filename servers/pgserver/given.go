package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/given"
	"github.com/satchel-go/satchel/servers/internal/sources"
)

// given checks that the server of the environment answers, and asks its version.
func (o Options) given(ctx context.Context) (*Server, error) {
	url := os.Getenv(EnvURL)
	version, err := ask(ctx, url)
	if err != nil {
		return nil, sources.Final(given.NewError(err, reason(err)))
	}
	if len(o.Settings) > 0 {
		o.Logf("%s: settings are not applied to a given server", EnvURL)
	}
	return &Server{Instance: servers.Given(kind, version, EnvURL), URL: url}, nil
}

// ask connects once and returns the server's version, without the packager's addition.
func ask(ctx context.Context, url string) (string, error) {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	version, _, _ := strings.Cut(conn.ParameterStatus("server_version"), " ")
	return version, nil
}

// reason words the failures that PostgreSQL's driver knows better than the network does.
func reason(err error) string {
	var refused *pgconn.PgError
	var parse *pgconn.ParseConfigError
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("the server refused it (SQLSTATE %s)", refused.Code)
	case errors.As(err, &parse):
		return "the value is no connection URL"
	default:
		return "unexpected failure"
	}
}
