package main

import (
	"context"
	"errors"

	"github.com/IBM/sarama"
)

// topics is the stage of viaKafka.
type topics struct {
	*viaKafka
	client sarama.Client
	admin  sarama.ClusterAdmin // closes client too
}

func (t *topics) environment() []string { return nil }

// inTransit is the lag of the consumer group: records whose offsets are not committed.
func (t *topics) inTransit(context.Context) (lag int64, err error) {
	asked := map[string][]int32{}
	for _, topic := range t.names() {
		for p := range int32(partitions) {
			asked[topic] = append(asked[topic], p)
		}
	}
	committed, err := t.admin.ListConsumerGroupOffsets(t.run, asked)
	switch {
	case unsettled(err):
		committed = &sarama.OffsetFetchResponse{} // nothing is known to be done
	case err != nil:
		return 0, err
	}
	for topic, list := range asked {
		for _, p := range list {
			end, err := t.client.GetOffset(topic, p, sarama.OffsetNewest)
			if err != nil {
				return 0, err
			}
			done := int64(0) // the topics are new, so they begin there
			if block := committed.GetBlock(topic, p); block != nil && block.Offset > 0 {
				done = block.Offset
			}
			lag += end - done
		}
	}
	return lag, nil
}

// unsettled reports whether the cluster is still finding out who keeps the group's
// offsets, as it does when the group is new.
func unsettled(err error) bool {
	return errors.Is(err, sarama.ErrOffsetsLoadInProgress) ||
		errors.Is(err, sarama.ErrConsumerCoordinatorNotAvailable) ||
		errors.Is(err, sarama.ErrNotCoordinatorForConsumer)
}

func (t *topics) remove(context.Context) error {
	var problems []error
	// The group has no members any more, if it ever had.
	if err := t.admin.DeleteConsumerGroup(t.run); !errors.Is(err, sarama.ErrGroupIDNotFound) {
		problems = append(problems, err)
	}
	for _, topic := range t.names() {
		problems = append(problems, t.admin.DeleteTopic(topic))
	}
	return errors.Join(append(problems, t.admin.Close())...)
}
