package io.mortise.redis.transport;

import java.util.function.Consumer;

/** A transport that is open and has no subscriptions; a subclass answers commands. */
public abstract class StubTransport implements RedisTransport {
  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public void subscribe(String channel, Consumer<String> listener) {}

  @Override
  public boolean isSubscribed(String channel) {
    return false;
  }

  @Override
  public boolean isDenied(String channel) {
    return false;
  }

  @Override
  public void unsubscribe(String channel) {}

  @Override
  public void reset() {}

  @Override
  public void close() {}
}
