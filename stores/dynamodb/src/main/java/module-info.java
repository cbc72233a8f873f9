/** Locks kept in Amazon DynamoDB. Start reading at {@code io.mortise.dynamodb}. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.mortise.dynamodb {
  requires transitive io.mortise.core;
  requires io.mortise.support;
  requires transitive software.amazon.awssdk.services.dynamodb;
  requires software.amazon.awssdk.awscore;
  requires software.amazon.awssdk.core;
  requires software.amazon.awssdk.http;
  requires software.amazon.awssdk.http.urlconnection;
  requires software.amazon.awssdk.regions;
  requires software.amazon.awssdk.retries;
  requires software.amazon.awssdk.retries.api;
  requires static transitive org.jspecify;

  exports io.mortise.dynamodb;

  provides io.mortise.spi.LockStoreProvider with
      io.mortise.dynamodb.DynamoDbStoreProvider;
}
