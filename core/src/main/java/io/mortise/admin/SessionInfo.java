package io.mortise.admin;

import io.mortise.admin.LockParticipant.ClientInfo;
import io.mortise.annotation.Beta;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The session of a process in a store, on which its holds and waits depend. A process has one
 * session, or one in each part of a store of several parts.
 *
 * @param session tells it apart from all others; each {@link LockParticipant#attempt()} of it
 *     begins with it
 * @param client the process; null if the store does not know it any more
 * @param ttl how long it lives after each renewal; zero if the store does not keep it
 * @param left how long it lives without a further renewal; zero if it is over. In a clockless
 *     store, as {@link LockParticipant#sessionLeft()}
 * @param renewedAgo in a clockless store, for a session not yet judged: as {@link
 *     LockParticipant#renewedAgo()}. Null elsewhere
 */
@Beta
public record SessionInfo(
    String session,
    @Nullable ClientInfo client,
    Duration ttl,
    Duration left,
    @Nullable Duration renewedAgo) {}
