package io.mortise.dynamodb;

import io.mortise.annotation.Beta;
import io.mortise.spi.LockStore;
import io.mortise.spi.StoreUrl;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Opens stores in Amazon DynamoDB: each lock is an item of a table, which is replaced by comparing
 * its version.
 *
 * <p>Limits of a DynamoDB lock: a holder that is stopped for longer than its TTL has lost the lock
 * before it wakes up. Its fencing token, from the version of its grant, is then smaller than that
 * of the next holder. How the service behaves in faults of its own is not tested here: the tests
 * run on an emulator.
 *
 * <p>A holder that has died is found out by watching: {@code tryAcquire} is busy until this client
 * has watched its session for a TTL, which begins with the first try.
 */
@Beta
public final class DynamoDbStore {
  private DynamoDbStore() {}

  /**
   * Connects to {@code dynamodb://region/table}, or to another endpoint: {@code
   * dynamodb://host:port/table}. Credentials are found by the AWS SDK's default chain. Parameters:
   * {@code namespace}, {@code timeout}, {@code poll}, the pause between two looks for a hand-off,
   * and {@code create}, which makes a missing table; for an endpoint also {@code tls}, with it
   * {@code ca}, a file of trusted certificates in PEM form, and {@code region}, for which requests
   * are signed, by default that of the variable {@code AWS_REGION} or {@code AWS_DEFAULT_REGION},
   * else {@code us-east-1}. Blocks while a few requests are answered, for twice the timeout each at
   * most, and while the table is made.
   *
   * @throws IllegalArgumentException if the URL has an unknown or wrong parameter
   * @throws io.mortise.StoreUnavailableException if nobody answers, or requests are throttled
   * @throws io.mortise.StoreUnfitException if somebody does, but there are no credentials, they do
   *     not suffice, or the table is missing or has other keys
   */
  public static LockStore open(String url) {
    return DynamoDbLockStore.connect(StoreUrl.parse(url), Ticker.SYSTEM, WallClock.SYSTEM);
  }

  /**
   * Uses a client that the application has. Closing the store leaves it open. Requests of the store
   * have a timeout of their own, and are never repeated by the client. Blocks as above.
   *
   * @param parameters as behind the question mark of a URL: {@code namespace}, {@code timeout},
   *     {@code poll}, {@code create}; may be empty
   * @throws IllegalArgumentException if there is a wrong or unknown parameter, or the table's name
   *     cannot be one
   * @throws io.mortise.StoreUnavailableException if nobody answers, or requests are throttled
   * @throws io.mortise.StoreUnfitException as for a URL
   */
  public static LockStore over(DynamoDbClient client, String table, String parameters) {
    return DynamoDbLockStore.over(client, table, parameters, Ticker.SYSTEM, WallClock.SYSTEM);
  }
}
