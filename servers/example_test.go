package servers_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/servers"
)

// A given server is never disturbed, and stopping it does nothing.
func ExampleGiven() {
	ctx := context.Background()
	server := servers.Given("postgres", "17.2", "SATCHEL_DATABASE_URL")
	fmt.Println(server)
	fmt.Println(errors.Is(server.Crash(ctx), servers.ErrGiven), server.Stop(ctx))
	// Output:
	// postgres: 17.2 (given by SATCHEL_DATABASE_URL)
	// true <nil>
}
