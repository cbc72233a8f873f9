package io.mortise.consul;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import io.mortise.internal.runtime.FailureText;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.http.HttpServers.HttpResponse;

/** An answer that is no result. {@link #translated} tells its meaning for a lock. */
final class ConsulRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  private static final int FORBIDDEN = 403;
  private static final int TOO_LARGE = 413;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;
  private static final int NOT_IMPLEMENTED = 501;

  private final int status;
  private final String said;
  private final String answer;

  /** Takes it apart. */
  ConsulRefusal(HttpResponse response) {
    super(FailureText.quoted(response.body()));
    this.status = response.status();
    this.said = response.body().strip();
    this.answer = response.described();
  }

  /** Whether another agent may do what this one cannot, now. */
  boolean isOfAgent() {
    return status >= SERVER_ERROR || status == TOO_MANY_REQUESTS;
  }

  /** Whether Consul's ACL system does not let the token do it. */
  static boolean isDenied(String body) {
    return body.contains("Permission denied") || body.contains("ACL not found");
  }

  /** Whether no agent of Consul gives such a status. Others above 500 may be a proxy's. */
  private boolean isOfAnotherServer() {
    return status == NOT_IMPLEMENTED
        || (status < SERVER_ERROR && status != TOO_MANY_REQUESTS && status != TOO_LARGE);
  }

  /** As the store tells it, with what to do. */
  LockException translated(ConsulTarget target) {
    if (said.contains("ACL not found")) {
      return unfit("Consul does not know the token (store=%s).".formatted(target));
    } else if (status == FORBIDDEN || isDenied(said)) {
      return unfit(
          target.token() == null
              ? "Without a token Consul does not let this client read and write the keys of this namespace (store=%s). Give one in the URL, consul://token@host:8500, whose policy has: key_prefix \"%s\" { policy = \"write\" }."
                  .formatted(target, target.prefix())
              : "The token may not read and write the keys of this namespace (store=%s). Its policy needs: key_prefix \"%s\" { policy = \"write\" }."
                  .formatted(target, target.prefix()));
    } else if (said.contains("HTTP request to an HTTPS server")) {
      return unfit(
          "Consul speaks TLS, and the URL does not (store=%s). Add tls=true.".formatted(target));
    } else if (isOfAnotherServer()) {
      // A proxy may answer with a page while it cannot reach Consul.
      return StoreUnfitException.notWritable(
          "What answers is not Consul, or a proxy before it leaves out its headers (store=%s, %s). Name an agent of Consul."
              .formatted(target, answer),
          this);
    } else if (status == TOO_LARGE) {
      return new StoreUnavailableException(
          "Consul refuses a lock with so many holders and waiters (store=%s). Set kv_max_value_size and txn_max_req_len of its servers higher."
              .formatted(target),
          new DocumentTooLargeException(this));
    }
    return new StoreUnavailableException(
        "Consul refuses a request (store=%s, status=%s): %s."
            .formatted(target, status, FailureText.quoted(said)),
        this);
  }

  private StoreUnfitException unfit(String message) {
    return new StoreUnfitException(message, this);
  }
}
