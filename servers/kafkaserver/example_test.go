package kafkaserver_test

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/satchel-go/satchel/servers/kafkaserver"
)

func Example() {
	ctx := context.Background()
	server, err := kafkaserver.Find(ctx, kafkaserver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Stop(ctx) }()

	client, err := kgo.NewClient(kgo.SeedBrokers(server.Brokers...))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	fmt.Println(server.Kind, client.Ping(ctx))
	// Output: kafka <nil>
}
