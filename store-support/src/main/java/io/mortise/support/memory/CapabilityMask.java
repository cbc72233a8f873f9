package io.mortise.support.memory;

import io.mortise.spi.Capability;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.StoreProfile;
import org.jspecify.annotations.Nullable;

/** Removes from the machine's answers all that a store with fewer capabilities would not report. */
record CapabilityMask(StoreProfile profile) {
  private boolean sessions() {
    return profile.can(Capability.SESSION);
  }

  /** Without judgement there is no proof. */
  Request request(Request request) {
    return sessions() || !(request instanceof Request.Acquire acquire)
        ? request
        : proven(acquire, null);
  }

  Reply reply(Request request, Reply reply) {
    if (!(reply instanceof Reply.Granted granted)) {
      return reply;
    }
    boolean tokens = profile.can(Capability.TOKEN);
    return new Reply.Granted(
        request.attempt(),
        tokens ? granted.token() : 0,
        tokens ? granted.tokens() : 1,
        granted.wanted() || !sessions(),
        granted.atMostLeft(),
        null);
  }

  Renewal renewal(Renewal renewal) {
    return renewal instanceof Renewal.Renewed renewed
        ? new Renewal.Renewed(
            renewed.storeMicros(),
            renewed.notifications().stream().filter(item -> tells(item.notification())).toList(),
            renewed.more(),
            "")
        : renewal;
  }

  boolean tells(SessionNotification sessionNotification) {
    return sessions() || !(sessionNotification instanceof SessionNotification.Contended);
  }

  /** The blocking holder's expired session, if it need not be judged; otherwise null. */
  @Nullable SessionId over(Reply reply) {
    Reply.Holder holder =
        reply instanceof Reply.Busy busy
            ? busy.holder()
            : reply instanceof Reply.Queued queued ? queued.holder() : null;
    return sessions() || holder == null || !holder.sessionLeft().isZero()
        ? null
        : holder.attempt().session();
  }

  Request.Acquire proven(Request.Acquire acquire, @Nullable SessionId over) {
    return new Request.Acquire(
        acquire.name(),
        acquire.attempt(),
        acquire.mode(),
        acquire.queue(),
        acquire.terms(),
        acquire.tokens(),
        acquire.tokenFloor(),
        over,
        acquire.confirms());
  }
}
