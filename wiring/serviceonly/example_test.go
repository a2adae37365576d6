package serviceonly_test

import (
	"fmt"

	"github.com/satchel-go/satchel/adapters-service/service"
	"github.com/satchel-go/satchel/core/config"

	"github.com/satchel-go/satchel/wiring"
	"github.com/satchel-go/satchel/wiring/serviceonly"
)

// What can be known before anything runs is an error of the injector; nothing has to be
// cleaned up after it.
func ExampleNew() {
	tree := config.Default()
	tree.Cron.Jobs.OutboxCleanup.Cron = "0 0 0 30 2 *" // the 30th of February
	in := wiring.Inputs{Database: wiring.Database{URL: "postgres://app@db.example/app"}}
	_, _, err := serviceonly.New(tree, in, service.NewRegistry(), service.Config{})
	fmt.Println(err)
	// Output: satchel: cron.jobs.outbox-cleanup.cron never comes due
}
