package io.mortise.redis;

import io.mortise.redis.transport.LuaScript;

/** The Lua scripts beside this class; the head of each describes it. */
enum Script {
  LOCK("lock.lua"),
  RENEW("renew.lua"),
  JUDGE("judge.lua"),
  CLOSE("close.lua"),
  INSPECT("inspect.lua"),
  STRICT_END("strict_end.lua"),
  STRICT_REVIVE("strict_revive.lua"),
  STRICT_MODE("strict_mode.lua"),
  SHORTEN("shorten.lua"),
  FACT("fact.lua");

  final String text;
  final String sha;

  Script(String file) {
    LuaScript script = LuaScript.beside(Script.class, file);
    text = script.text();
    sha = script.sha();
  }
}
