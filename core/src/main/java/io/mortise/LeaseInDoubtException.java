package io.mortise;

/**
 * The lease is not valid for the moment, and may be again: the store was restarted or failed over,
 * and has not confirmed the hold yet ({@link Lease.State#SUSPECT}). The doubt ends within
 * milliseconds of the store's answer, and at the lease's deadline at the latest: the lease is valid
 * with the same token, or lost. Until then do nothing that the lock guards.
 */
public final class LeaseInDoubtException extends LockException {
  private static final long serialVersionUID = 1L;

  /** Creates it with a message that names the lock and the store. */
  public LeaseInDoubtException(String message) {
    super(message);
  }
}
