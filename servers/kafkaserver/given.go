package kafkaserver

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/given"
	"github.com/satchel-go/satchel/servers/internal/sources"
)

// given checks that the brokers of the environment answer, and asks their version.
func (o Options) given(ctx context.Context) (*Server, error) {
	var brokers []string
	for broker := range strings.SplitSeq(os.Getenv(EnvBrokers), ",") {
		if broker = strings.TrimSpace(broker); broker != "" {
			brokers = append(brokers, broker)
		}
	}
	const patience = 15 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := ask(ctx, brokers...)
	if err != nil {
		return nil, sources.Final(given.NewError(err, "unexpected failure"))
	}
	return &Server{Instance: servers.Given(kind, answer.version, EnvBrokers), Brokers: brokers}, nil
}

// identity is what a broker tells about itself.
type identity struct {
	cluster string
	version string // a guess from the requests that it knows: the protocol has no version
}

var errNoBroker = errors.New("the cluster has no active broker yet")

// ask connects once and returns who answers. The client tries the addresses in turn until ctx ends.
func ask(ctx context.Context, brokers ...string) (identity, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.RequestRetries(0))
	if err != nil {
		return identity{}, err
	}
	defer client.Close()
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Topics = []kmsg.MetadataRequestTopic{} // none; nil would ask for all
	who, err := metadata.RequestWith(ctx, client)
	if err != nil {
		return identity{}, err
	}
	if len(who.Brokers) == 0 || who.ClusterID == nil {
		return identity{}, errNoBroker
	}
	able, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, client)
	if err != nil {
		return identity{}, err
	}
	guess := kversion.FromApiVersionsResponse(able).VersionGuess()
	return identity{cluster: *who.ClusterID, version: strings.TrimPrefix(guess, "v")}, nil
}
