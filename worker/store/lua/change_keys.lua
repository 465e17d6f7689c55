-- version channel created imported revoked
-- Change the API keys and announce it. `created` and `imported` are JSON objects of keys to store by id, with false for
-- those to remove; `revoked` is a JSON list of ids.
local version, channel, created, imported, revoked = unpack(ARGV)

for name, changes in pairs({ ['literati:keys'] = created, ['literati:keys-imported'] = imported }) do
    for id, entry in pairs(cjson.decode(changes)) do
        if entry then
            call('HSET', name, id, entry)
        else
            call('HDEL', name, id)
        end
    end
end
for _, id in ipairs(cjson.decode(revoked)) do
    call('SADD', 'literati:keys-revoked', id)
end
call('SET', 'literati:keys-version', version)
call('PUBLISH', channel, version)
return { 'OK' }
