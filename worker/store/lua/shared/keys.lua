-- Names of keys, the clock, and small helpers. This and the parts that client.py lists stand before every script.
--
-- A script runs alone on the server and uses the server's clock. Either all or nothing of it reaches the disk, but a
-- script that raises an error keeps what it wrote before. So each script reads and checks everything before its first
-- write.
--
-- The names of keys, fields and events are older than those in the code and must not change. A control request is in
-- the field `wish`, a search snapshot in `blob`, the virtual start times of tenants in 'literati:turns'.

local call = redis.call
local LEASES = 'literati:leases' -- jobs by the time when their lease ends
local ACTIVE = 'literati:active' -- jobs that are queued or have a lease, by the time when that began
local WAITING = 'literati:waiting' -- queued jobs of all tenants, by the time when they were queued
local START_TIMES = 'literati:turns' -- tenants with queued jobs by their virtual start time
local IDLE_START_TIMES = 'literati:rested' -- the same of tenants without queued jobs
local VIRTUAL_TIME = 'literati:virtual-time' -- the virtual start time of the job that was started last
local RUNNING = 'literati:running' -- cores in use by tenant
local WEIGHTS, DEFAULT_WEIGHT = 'literati:weights', 100
local REFERENCES, GARBAGE = 'literati:blob-references', 'literati:garbage'
local DELETION_HOLD = 'literati:backup' -- exists while a backup is being made
local LAST_BACKUP = 'literati:last-backup'
local MIN_EPOCH = 'literati:epoch-floor' -- set when a backup is restored
local TOTALS, SNAPSHOT_BYTES, WORKERS = 'literati:totals', 'literati:saved-searches', 'literati:workers'
local ENDED, ENDED_SEARCHES = 'literati:ended', 'literati:ended-searches' -- jobs by the time of their end
local DATASETS_USED = 'literati:datasets-used' -- datasets by the time of their last use
local SWEEPS_LIVE, SWEEPS_DUE = 'literati:sweeps-live', 'literati:sweeps-due' -- not ended; to be chosen from
local SWEEP_DEADLINES = 'literati:sweep-deadlines' -- sweeps by the time when their time limit is reached
local ENDED_SWEEPS = 'literati:ended-sweeps' -- by the time of their end
local ARCHIVABLE = 'literati:archivable' -- ended jobs and models that are not archived, by the time of their end
local ARCHIVES = 'literati:archives' -- the blobs of archives, as 32 bytes
local ARCHIVES_PENDING = 'literati:archives-pending' -- blobs that are being written, by the time when that began
local ARCHIVE_SINCE = 'literati:archive-since' -- when a version that reads archives used the store first
local ARCHIVABLE_INDEXED = 'literati:archivable-indexed' -- what an earlier version stored is in ARCHIVABLE
local MAX_TRANSITIONS = 20000 -- bytes; MAX_EVENTS, MAX_TRACE, MAX_INCUMBENTS and MAX_THREADS are defined before this

local clock = call('TIME')
local now = string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))

local function job_key(id)
    return 'literati:job:' .. id
end

local function sweep_key(id)
    return 'literati:sweep:' .. id
end

-- Jobs of a sweep have indexes and a queue of their own, so that lists of jobs do not show them and single jobs do not
-- wait behind all of them.
local function owner_of(job)
    return job.sweep ~= '' and 'sweep:' .. job.sweep or job.tenant
end

local child_ended -- a function in sweeps.lua that `end_job` calls for the job of a sweep

local function put(job, name, value)
    job[name] = value
    call('HSET', job.key, name, value)
end

-- Increment a total for Prometheus. It is counted in the script that does the work, so that no crash comes between the
-- two, and kept in the store because workers come and go.
local function count(name, by)
    call('HINCRBY', TOTALS, name, by or 1)
end
