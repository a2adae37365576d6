package redisserver

import (
	"context"
	"errors"
	"net"
	"os"
	"regexp"
	"time"

	"github.com/redis/go-redis/v9"

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
	return &Server{Instance: servers.Given(kind, version, EnvURL), URL: url}, nil
}

var (
	errURL     = errors.New("not a connection URL")
	errVersion = errors.New("the server does not tell its version")
	versionKey = regexp.MustCompile(`(?m)^redis_version:(\S+)`)
)

// ask connects once and returns the server's version. It does not try twice: whoever waits for a server to start asks
// again.
func ask(ctx context.Context, url string) (string, error) {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	options, err := redis.ParseURL(url)
	if err != nil {
		return "", errURL // the parser's words repeat parts of the URL
	}
	options.MaxRetries, options.DialerRetries = -1, 1
	// The library prints what dialling says, address and all, to standard error.
	dial := redis.NewDialer(options)
	options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, given.NewError(err, "unexpected failure")
		}
		return conn, nil
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	info, err := client.Info(ctx, "server").Result()
	var refused redis.Error
	if errors.As(err, &refused) && client.Ping(ctx).Err() == nil {
		return "unknown version", nil // a stand-in, which has no such section
	}
	if err != nil {
		return "", err
	}
	match := versionKey.FindStringSubmatch(info)
	if match == nil {
		return "", errVersion
	}
	return match[1], nil
}

func reason(err error) string {
	var refused redis.Error
	switch {
	case errors.Is(err, errURL), errors.Is(err, errVersion):
		return err.Error()
	case errors.As(err, &refused):
		return "the server refused it"
	default:
		return "unexpected failure"
	}
}
