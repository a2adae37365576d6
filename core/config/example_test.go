package config_test

import (
	"fmt"

	"github.com/satchel-go/satchel/core/config"
)

func ExampleParse() {
	tree, err := config.Parse([]byte(`{
		"inboxOutbox": {
			"relay":   {"strategy": "POLLING", "pollingIntervalMs": 250},
			"cleanup": {"deadLetterRetentionDays": "FOREVER"}
		},
		"db": {"schemas": {"inbox-outbox": "messaging"}}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree.Relay().PollingInterval, tree.Maintenance().PublishedRetention, tree.DB.Schemas.InboxOutbox)
	// Output: 250ms 168h0m0s messaging
}

// Every problem is reported, with the place and without the value.
func ExampleParse_refused() {
	_, err := config.Parse([]byte(`{
		"inboxOutbox": {
			"relay":   {"batchsize": 200, "maxAttempts": "twenty"},
			"cleanup": {"cleanupIntervalHours": 6}
		},
		"db": {"schemas": {"inbox_outbox": "messaging"}}
	}`))
	fmt.Println(err)
	// Output:
	// satchel: db.schemas.inbox_outbox is not a known key; did you mean db.schemas.inbox-outbox?
	// satchel: inboxOutbox.cleanup.cleanupIntervalHours was removed; set cron.jobs.outbox-cleanup.cron instead
	// satchel: inboxOutbox.relay.batchsize is not a known key; did you mean inboxOutbox.relay.batchSize?
	// satchel: inboxOutbox.relay.maxAttempts is a text, not a whole number from 1 to 1000000
}
