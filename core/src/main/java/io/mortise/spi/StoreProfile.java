package io.mortise.spi;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The name, capabilities and limits of a store; fixed when it is opened.
 *
 * @param display its name in messages and logs; holds no secret
 * @param capabilities its capabilities
 * @param maxInFlight the store's timeout: after this time a request that was sent is certainly
 *     either executed or never will be, and has been answered or has failed. A try takes no longer.
 *     Zero for a store without one, in memory
 * @param minTtl the shortest session TTL it can keep
 * @param expiryLag how much later than a session's TTL the store may free its holds, apart from the
 *     wait for a contender's request
 */
public record StoreProfile(
    String display,
    Set<Capability> capabilities,
    Duration maxInFlight,
    Duration minTtl,
    Duration expiryLag) {
  /** The stores with read/write locks, semaphores and texts. */
  static final String FULL_STORES = "jdbc:, redis:, zk:, etcd:, consul:, nats:, dynamodb: or mem:";

  private static final String TIMED_STORES =
      "jdbc: or redis: without strict expiry, zk:, etcd:, consul:, nats:, dynamodb: or mem:";

  /** Copies the set. */
  public StoreProfile {
    capabilities = Set.copyOf(capabilities);
  }

  /** Whether the store has this capability. */
  public boolean can(Capability capability) {
    return capabilities.contains(capability);
  }

  /** The refusal of a request that needs a missing capability; empty if none is missing. */
  public Optional<Reply.Refused> refusal(Request request) {
    if (request instanceof Request.Acquire acquire) {
      return first(
          request,
          acquire.queue() ? Capability.QUEUE : null,
          acquire.mode().capacity() != Mode.SHARERS ? Capability.PERMITS : null,
          acquire.mode().equals(Mode.SHARED) ? Capability.SHARED : null,
          acquire.terms().atMost() != null ? Capability.AT_MOST : null,
          acquire.terms().atLeast() != null ? Capability.AT_LEAST : null,
          acquire.attempt().isSticky() ? Capability.CALL_BACK : null,
          acquire.tokenFloor() > 0 ? Capability.TOKEN_FLOOR : null);
    }
    if (request instanceof Request.Adjust adjust) {
      return first(
          request,
          adjust.mode().isExclusive() ? null : Capability.DOWNGRADE,
          adjust.terms().atMost() != null ? Capability.AT_MOST : null,
          adjust.terms().atLeast() != null ? Capability.AT_LEAST : null,
          adjust.tokenFloor() > 0 ? Capability.TOKEN_FLOOR : null);
    }
    return Optional.empty();
  }

  private Optional<Reply.Refused> first(Request request, @Nullable Capability... needed) {
    for (Capability capability : needed) {
      if (capability != null && !can(capability)) {
        return Optional.of(
            new Reply.Refused(
                request.attempt(),
                Reply.RefusalReason.UNSUPPORTED,
                "Store '" + display + "' " + lack(capability)));
      }
    }
    return Optional.empty();
  }

  /** The consequence of a missing capability, and the alternative. */
  private static String lack(Capability capability) {
    return switch (capability) {
      case SHARED ->
          "has no read/write locks (SHARED). Take one that has them: " + FULL_STORES + ".";
      case PERMITS -> "has no semaphores (PERMITS). Take one that has them: " + FULL_STORES + ".";
      case AT_LEAST ->
          "keeps no at-least times (AT_LEAST). Leave the time out, or take one that keeps them: "
              + TIMED_STORES
              + ".";
      case CALL_BACK ->
          "calls no idle holder back (CALL_BACK). Leave sticky out, or take one that does:"
              + " "
              + FULL_STORES
              + ".";
      case DOWNGRADE ->
          "cannot turn an exclusive hold into a shared one (DOWNGRADE). Release it, and acquire the"
              + " read lock.";
      default -> "cannot do this: it has no " + capability + ".";
    };
  }
}
