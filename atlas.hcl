# Project file for the Atlas command line (community edition is enough). Run from the root of the repository:
#   SATCHEL_DATABASE_URL=postgres://... SATCHEL_DEV_DATABASE_URL=postgres://... atlas migrate apply --env local
# Every env names its schemas and never drops one: without both, Atlas plans for the whole database. None drops a table
# either, since a table that schema.hcl does not know is the application's. See docs/migration.md.

variable "url" {
  type    = string
  default = getenv("SATCHEL_DATABASE_URL")
}

# An empty database of the same major version, used to bring expressions into PostgreSQL's own form.
variable "dev_url" {
  type    = string
  default = getenv("SATCHEL_DEV_DATABASE_URL")
}

# Used by env "mapped": the one schema that holds every table. Both urls need search_path=<that schema>.
variable "schema" {
  type    = string
  default = "messaging"
}

locals {
  # Tables of the migration tools themselves; day partitions are not seen by Atlas at all.
  not_ours = ["*.satchel_revisions", "*.atlas_schema_revisions"]
}

data "hcl_schema" "public" {
  path = "schema/schema.hcl"
  vars = { schema = "public" }
}

data "hcl_schema" "mapped" {
  path = "schema/schema.hcl"
  vars = { schema = var.schema }
}

env "local" {
  src     = data.hcl_schema.public.url
  url     = var.url
  dev     = var.dev_url
  schemas = ["public"]
  exclude = local.not_ours
  migration {
    dir              = "file://schema/migrations"
    revisions_schema = "public"
  }
  diff {
    skip {
      drop_schema = true
      drop_table  = true
    }
    concurrent_index {
      create = true
      drop   = true
    }
  }
}

# The same, with a destructive change in a migration taken for an error.
env "ci" {
  src     = data.hcl_schema.public.url
  url     = var.url
  dev     = var.dev_url
  schemas = ["public"]
  exclude = local.not_ours
  migration {
    dir              = "file://schema/migrations"
    revisions_schema = "public"
  }
  diff {
    skip {
      drop_schema = true
      drop_table  = true
    }
  }
  lint {
    destructive {
      error = true
    }
  }
}

env "mapped" {
  src     = data.hcl_schema.mapped.url
  url     = var.url
  dev     = var.dev_url
  schemas = [var.schema]
  exclude = local.not_ours
  migration {
    dir              = "file://schema/migrations"
    revisions_schema = var.schema
  }
  diff {
    skip {
      drop_schema = true
      drop_table  = true
    }
    concurrent_index {
      create = true
      drop   = true
    }
  }
}
