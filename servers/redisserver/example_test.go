package redisserver_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/servers/redisserver"
)

func Example() {
	ctx := context.Background()
	server, err := redisserver.Find(ctx, redisserver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Stop(ctx) }()

	options, err := redis.ParseURL(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	fmt.Println(client.Ping(ctx).Val())
	// Output: PONG
}
