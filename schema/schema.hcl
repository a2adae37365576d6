# The desired state of satchel's tables and indexes, after the last file of migrations/.
# Functions, triggers, the sequence outbox_gate and storage parameters live in the migrations only: the open edition of
# Atlas neither reads nor drops them. The name of the schema is a variable because the migrations carry none.
variable "schema" {
  type    = string
  default = "public"
}

schema "satchel" {
  name = var.schema
}

# One row per message to deliver.
table "outbox" {
  schema = schema.satchel
  column "id" {
    null = false
    type = bigserial
  }
  column "carrier_id" {
    null = false
    type = uuid
  }
  column "aggregate_type" {
    null = true
    type = varchar(255)
  }
  column "aggregate_id" {
    null = true
    type = varchar(255)
  }
  column "event_type" {
    null = false
    type = varchar(255)
  }
  column "destination" {
    null = false
    type = varchar(255)
  }
  column "destination_type" {
    null = false
    type = varchar(32)
  }
  column "payload" {
    null = true
    type = jsonb
  }
  column "headers" {
    null = true
    type = jsonb
  }
  column "metadata" {
    null    = false
    type    = jsonb
    default = "{}"
  }
  column "scheduled_at" {
    null = true
    type = timestamptz
  }
  column "available_at" {
    null    = false
    type    = timestamptz
    default = sql("now()")
  }
  column "state" {
    null    = false
    type    = varchar(32)
    default = "PENDING"
  }
  column "attempt" {
    null    = false
    type    = integer
    default = 0
  }
  column "max_attempts" {
    null    = false
    type    = integer
    default = 20
  }
  column "claimed_at" {
    null = true
    type = timestamptz
  }
  column "claimed_by" {
    null = true
    type = varchar(255)
  }
  column "published_at" {
    null = true
    type = timestamptz
  }
  column "last_error" {
    null = true
    type = text
  }
  column "error_type" {
    null = true
    type = varchar(500)
  }
  column "created_at" {
    null    = false
    type    = timestamptz
    default = sql("now()")
  }
  column "updated_at" {
    null    = false
    type    = timestamptz
    default = sql("now()")
  }
  column "dead_lettered_at" {
    null = true
    type = timestamptz
  }
  column "lease_id" {
    null = true
    type = bigint
  }
  column "claims" {
    null    = false
    type    = integer
    default = 0
  }
  column "payload_raw" {
    null = true
    type = bytea
  }
  column "content_type" {
    null = true
    type = varchar(255)
  }
  primary_key {
    columns = [column.id]
  }
  unique "outbox_carrier_id_key" {
    columns = [column.carrier_id]
  }
  # No index and no predicate names state, claimed_at, claimed_by, lease_id, claims, attempt or updated_at.
  index "idx_outbox_claim" {
    on {
      column = column.destination_type
    }
    on {
      expr = "GREATEST(available_at, scheduled_at)"
    }
    on {
      column = column.id
    }
    include = [column.destination]
    where   = "published_at IS NULL AND dead_lettered_at IS NULL"
  }
  index "idx_outbox_aggregate" {
    columns = [column.aggregate_id, column.id]
    where   = "published_at IS NULL AND dead_lettered_at IS NULL AND aggregate_id IS NOT NULL"
  }
  index "idx_outbox_published" {
    columns = [column.published_at]
    where   = "published_at IS NOT NULL"
  }
  index "idx_outbox_dead_letter" {
    columns = [column.dead_lettered_at]
    where   = "dead_lettered_at IS NOT NULL"
  }
  check "outbox_payload_one_form" {
    expr = "(payload IS NULL) <> (payload_raw IS NULL)"
  }
}

# One row per message that was consumed.
table "inbox" {
  schema = schema.satchel
  column "message_id" {
    null = false
    type = varchar(255)
  }
  column "source" {
    null = false
    type = varchar(255)
  }
  column "processed_at" {
    null    = false
    type    = timestamptz
    default = sql("now()")
  }
  primary_key {
    columns = [column.message_id, column.source]
  }
  index "idx_inbox_processed_at" {
    columns = [column.processed_at]
  }
}

# One row per claimed batch.
table "outbox_lease" {
  schema = schema.satchel
  column "id" {
    null = false
    type = bigint
    identity {
      generated = ALWAYS
    }
  }
  column "owner" {
    null = false
    type = varchar(255)
  }
  column "expires_at" {
    null = false
    type = timestamptz
  }
  column "entry_ids" {
    null = false
    type = sql("bigint[]")
  }
  column "created_at" {
    null    = false
    type    = timestamptz
    default = sql("now()")
  }
  primary_key {
    columns = [column.id]
  }
}

# One row per running relay.
table "outbox_relay" {
  schema = schema.satchel
  column "owner" {
    null = false
    type = varchar(255)
  }
  column "started_at" {
    null    = false
    type    = timestamptz
    default = sql("now()")
  }
  column "heartbeat_at" {
    null    = false
    type    = timestamptz
    default = sql("now()")
  }
  column "asleep" {
    null    = false
    type    = boolean
    default = false
  }
  column "scopes" {
    null    = false
    type    = jsonb
    default = "{}"
  }
  primary_key {
    columns = [column.owner]
  }
}

# The last run of each maintenance job.
table "outbox_maintenance" {
  schema = schema.satchel
  column "job" {
    null = false
    type = varchar(64)
  }
  column "owner" {
    null = false
    type = varchar(255)
  }
  column "started_at" {
    null = false
    type = timestamptz
  }
  column "finished_at" {
    null = true
    type = timestamptz
  }
  column "affected" {
    null    = false
    type    = bigint
    default = 0
  }
  primary_key {
    columns = [column.job]
  }
}

# Published rows that were moved out of the outbox. Partitions are made by a function and are no concern of Atlas,
# which does not look at partitions.
table "outbox_archive" {
  schema = schema.satchel
  column "id" {
    null = false
    type = bigint
  }
  column "carrier_id" {
    null = false
    type = uuid
  }
  column "aggregate_type" {
    null = true
    type = varchar(255)
  }
  column "aggregate_id" {
    null = true
    type = varchar(255)
  }
  column "event_type" {
    null = false
    type = varchar(255)
  }
  column "destination" {
    null = false
    type = varchar(255)
  }
  column "destination_type" {
    null = false
    type = varchar(32)
  }
  column "payload" {
    null = true
    type = jsonb
  }
  column "payload_raw" {
    null = true
    type = bytea
  }
  column "content_type" {
    null = true
    type = varchar(255)
  }
  column "headers" {
    null = true
    type = jsonb
  }
  column "metadata" {
    null    = false
    type    = jsonb
    default = "{}"
  }
  column "attempt" {
    null    = false
    type    = integer
    default = 0
  }
  column "scheduled_at" {
    null = true
    type = timestamptz
  }
  column "created_at" {
    null = false
    type = timestamptz
  }
  column "published_at" {
    null = false
    type = timestamptz
  }
  partition {
    type    = RANGE
    columns = [column.published_at]
  }
}
