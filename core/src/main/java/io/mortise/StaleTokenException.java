package io.mortise;

/**
 * A guard refused a fencing token, because it has seen a later one: the hold behind the token is
 * over, even if its holder believes otherwise. The guarded write did not happen.
 */
public final class StaleTokenException extends LockException {
  private static final long serialVersionUID = 1L;

  private final FencingToken refused;
  private final long currentToken;
  private final String currentHolder;

  /**
   * Creates it from a guard that compares tokens.
   *
   * @param resource the refusing resource, for people
   * @param refused the token that was shown
   * @param currentToken the greatest token that the guard has let pass
   * @param currentHolder the holder that showed it
   */
  public StaleTokenException(
      String resource, FencingToken refused, long currentToken, String currentHolder) {
    super(message(resource, refused, currentToken, currentHolder));
    this.refused = refused;
    this.currentToken = currentToken;
    this.currentHolder = currentHolder;
  }

  /**
   * Creates it from a guard that knows whether a hold stands, but no tokens.
   *
   * @param resource the refusing resource, for people
   * @param refused the token that was shown
   */
  public StaleTokenException(String resource, FencingToken refused) {
    super(
        String.format(
            "Token %s of lock '%s' was refused by %s, since the hold behind it is over (shown by=%s). Nothing was"
                + " written. Drop the work or acquire again.",
            refused.value(), LockName.of(refused.lock()), resource, refused.holder()));
    this.refused = refused;
    this.currentToken = 0;
    this.currentHolder = "";
  }

  private static String message(
      String resource, FencingToken refused, long currentToken, String currentHolder) {
    String shown =
        String.format(
            "Token %s of lock '%s' was refused by %s",
            refused.value(), LockName.of(refused.lock()), resource);
    return refused.value() == currentToken
        ? shown
            + String.format(
                ", which has seen the same token from another holder (shown by=%s, seen from=%s). The lock's store"
                    + " forgot what it had granted: check its persistence. Nothing was written.",
                refused.holder(), currentHolder)
        : shown
            + String.format(
                ", which has seen token %s (shown by=%s, seen from=%s). The hold behind it is over; nothing was"
                    + " written. Drop the work or acquire again.",
                currentToken, refused.holder(), currentHolder);
  }

  /** The token that was shown. */
  public FencingToken refused() {
    return refused;
  }

  /**
   * The greatest token that the guard has let pass: the next grant has to be above it. 0 from a
   * guard that knows no tokens.
   */
  public long currentToken() {
    return currentToken;
  }

  /** The holder that showed {@link #currentToken()}; empty if that is 0. */
  public String currentHolder() {
    return currentHolder;
  }

  /**
   * Whether another holder showed the same token: no late holder then, but a store that granted one
   * token twice, because it lost its state.
   */
  public boolean isGrantedTwice() {
    return refused.value() == currentToken;
  }
}
