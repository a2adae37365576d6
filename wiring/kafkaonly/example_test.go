package kafkaonly_test

import (
	"fmt"

	"github.com/satchel-go/satchel/adapters-kafka/kafka"
	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/kafkaonly"
)

// Nothing is connected to yet, so a database or a cluster that is down does not keep a service
// from starting. A service goes on with rt.App.Run.
func ExampleNew() {
	tree := config.Default()
	tree.InboxOutbox.Relay.Instances = 2
	in := wiring.Inputs{Database: wiring.Database{URL: "postgres://app@db.example/app"}}
	rt, cleanup, err := kafkaonly.New(tree, in, kafka.Config{
		Connection: kafka.Connection{Brokers: []string{"kafka-1.example:9092"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cleanup()
	// Five connections for each relay, and five for the application.
	fmt.Println("enough connections:", rt.Pool.Config().MaxConns >= 15)
	// Output: enough connections: true
}
