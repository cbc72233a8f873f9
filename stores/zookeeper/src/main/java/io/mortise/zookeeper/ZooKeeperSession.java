package io.mortise.zookeeper;

import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.StoreSession;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** A session as the engine sees it; several may be views of one. */
final class ZooKeeperSession implements StoreSession {
  private final SessionCore core;

  ZooKeeperSession(SessionCore core) {
    this.core = core;
  }

  @Override
  public SessionId id() {
    return core.id();
  }

  @Override
  public void submit(Request request, Consumer<Reply> sink) {
    core.submit(request, false, sink);
  }

  @Override
  public void submitLater(Request request, Consumer<Reply> sink) {
    core.submit(request, true, sink);
  }

  @Override
  public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
    return core.renewal().renew(previous, next, seen);
  }

  @Override
  public void onConnectionLost(Consumer<String> lost) {
    core.renewal().onConnectionLost(lost);
  }

  @Override
  public CompletionStage<Void> close() {
    return core.renewal().close();
  }
}
