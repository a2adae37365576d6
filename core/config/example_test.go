package config_test

import (
	"encoding/json"
	"fmt"
	"time"

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

// Another loader, for example of YAML or of the environment, hands over what it has read.
func ExampleFromMap() {
	tree, err := config.FromMap(map[string]any{
		"inboxOutbox": map[string]any{"relay": map[string]any{"batchSize": 200.0, "instances": 2}},
	})
	fmt.Println(tree.InboxOutbox.Relay.BatchSize, tree.InboxOutbox.Relay.Instances, err)
	// Output: 200 2 <nil>
}

// An empty file is a complete configuration.
func ExampleDefault() {
	tree, err := config.Parse([]byte(`{}`))
	fmt.Println(tree == config.Default(), err)
	// Output: true <nil>
}

// A tree inside an application's own configuration is read just as strictly.
func ExampleTree() {
	var app struct {
		Name    string
		Satchel config.Tree
	}
	err := json.Unmarshal([]byte(`{"name":"shop","satchel":{"cron":{"jobs":{"outbox-cleanup":{"cron":"0 0 3 * * *"}}}}}`), &app)
	fmt.Println(app.Name, app.Satchel.Cron.Jobs.OutboxCleanup.Cron, err)

	err = json.Unmarshal([]byte(`{"satchel":{"corn":{}}}`), &app)
	fmt.Println(err)
	// Output:
	// shop 0 0 3 * * * <nil>
	// satchel: corn is not a known key; did you mean cron?
}

// A tree that was changed by hand is checked again.
func ExampleTree_Validate() {
	tree := config.Default()
	tree.InboxOutbox.Relay.BackoffMaxDelayMs = 10
	fmt.Println(tree.Validate())
	// Output: satchel: inboxOutbox.relay.backoffMaxDelayMs is shorter than inboxOutbox.relay.backoffBaseDelayMs
}

// The settings of a relay, and what a file cannot say.
func ExampleTree_Relay() {
	cfg := config.Default().Relay()
	cfg.Owner = "orders-1"
	fmt.Println(cfg.Strategy, cfg.LeaseTimeout == 30*time.Second, cfg.Validate())
	// Output: LISTEN_NOTIFY true <nil>
}

// Publishers and maintenance get theirs from the same tree.
func ExampleTree_Maintenance() {
	tree, err := config.Parse([]byte(`{"inboxOutbox":{"relay":{"maxAttempts":5},"cleanup":{"inboxRetentionDays":90}}}`))
	fmt.Println(tree.Maintenance().InboxRetention, tree.Outbox().MaxAttempts, err)
	// Output: 2160h0m0s 5 <nil>
}

// A retention is a number of days, or for ever.
func ExampleDays() {
	fmt.Println(config.Days(7).Duration())
	doc, err := json.Marshal([]config.Days{7, config.Forever})
	fmt.Println(string(doc), err)
	// Output:
	// 168h0m0s
	// [7,"FOREVER"] <nil>
}
