-- id tenant revision(or '' for the best)
local id, tenant, revision = unpack(ARGV)

local found = call('HMGET', job_key(id), 'tenant', 'incumbents', 'archive')
if found[1] ~= tenant then
    return { 'JOB_GONE' }
end
if found[3] then
    return { 'ARCHIVED', found[3] }
end
revision = revision ~= '' and revision or found[2]
return { 'OK', revision, call('HGETALL', job_key(id) .. ':incumbent:' .. revision) }
