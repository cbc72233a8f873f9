package io.mortise.dynamodb;

import io.mortise.LockException;
import io.mortise.StoreUnavailableException;
import io.mortise.StoreUnfitException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.http.HttpTimeoutException;
import java.util.Objects;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;

/** What a failed request means for a lock. */
final class DynamoDbRefusal {
  private static final int SERVER_ERROR = 500;

  /** The codes of a service that could do it at another time. */
  private static final Set<String> BUSY =
      Set.of(
          "ProvisionedThroughputExceededException",
          "RequestLimitExceeded",
          "ThrottlingException",
          "LimitExceededException",
          "ResourceInUseException",
          "TransactionConflictException",
          "ReplicatedWriteConflictException");

  private static final Set<String> UNKNOWN_CREDENTIALS =
      Set.of(
          "UnrecognizedClientException",
          "InvalidClientTokenId",
          "InvalidSignatureException",
          "IncompleteSignatureException",
          "MissingAuthenticationTokenException",
          "ExpiredTokenException");

  private DynamoDbRefusal() {}

  /** As the store tells it, with what to do. */
  static RuntimeException translated(Throwable failure, DynamoDbTarget target) {
    if (failure instanceof AwsServiceException refusal) {
      return refused(refusal, target);
    }
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof ApiCallTimeoutException || at instanceof SocketTimeoutException) {
        HttpTimeoutException timeout = new HttpTimeoutException(at.getMessage());
        timeout.initCause(failure);
        return target.http().translated(timeout);
      } else if (at instanceof IOException) {
        return target.http().translated(at);
      }
    }
    if (failure instanceof SdkClientException) {
      String said = Objects.requireNonNullElse(failure.getMessage(), "");
      return said.startsWith("Unable to load credentials")
          ? new StoreUnfitException(
              "The AWS SDK finds no credentials (store=%s). Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role of the host."
                  .formatted(target),
              failure)
          : new StoreUnavailableException(
              "A request to DynamoDB failed (store=%s): %s".formatted(target, said), failure);
    }
    return target.http().translated(failure);
  }

  private static LockException refused(AwsServiceException refusal, DynamoDbTarget target) {
    AwsErrorDetails details = refusal.awsErrorDetails();
    String code = details == null ? "" : Objects.requireNonNullElse(details.errorCode(), "");
    String said =
        details == null ? "" : Objects.requireNonNullElse(details.errorMessage(), "no reason");
    if (code.equals("ResourceNotFoundException")) {
      return new StoreUnfitException(
          "Table '%s' is missing (store=%s). Create it, or add create=true: %s"
              .formatted(target.table(), target, DynamoDbTable.command(target)),
          refusal);
    } else if (code.equals("AccessDeniedException")) {
      return new StoreUnfitException(
          "The AWS credentials may not use table '%s' (store=%s): %s. They need dynamodb:DescribeTable, GetItem, PutItem, DeleteItem and Query."
              .formatted(target.table(), target, said),
          refusal);
    } else if (UNKNOWN_CREDENTIALS.contains(code)) {
      return new StoreUnfitException(
          "DynamoDB does not take the AWS credentials (store=%s): %s. Check the key, its session token, and the clock of this host."
              .formatted(target, said),
          refusal);
    } else if (said.contains("Item size")) {
      return new StoreUnavailableException(
          "DynamoDB refuses a lock with so many holders and waiters (store=%s): an item has 400 KB at most. Have fewer of them wait for one lock."
              .formatted(target),
          refusal);
    } else if (BUSY.contains(code) || refusal.statusCode() >= SERVER_ERROR) {
      return new StoreUnavailableException(
          "DynamoDB refuses a request for now (store=%s, status=%d, code=%s): %s. If it throttles, raise the table's capacity, or use fewer locks in one namespace."
              .formatted(target, refusal.statusCode(), code, said),
          refusal);
    }
    return new StoreUnfitException(
        "What answers is not DynamoDB, or refuses what a lock needs (store=%s, status=%d, code=%s): %s. Check region, endpoint and table."
            .formatted(target, refusal.statusCode(), code, said),
        refusal);
  }
}
