package io.mortise.dynamodb;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * A condition that DynamoDB checks in the same atomic step as a write or a removal of an item. In
 * expressions {@code k} is the sort key, which each item has, {@code v} the item's version, and
 * {@code :v} the version that the writer gives.
 */
enum WriteCondition {
  /** There is no item. */
  ABSENT("attribute_not_exists(k)"),

  /** The item has the version that was read. */
  SAME_VERSION("v = :v"),

  /** There is no item, or one of a lower version. */
  ABSENT_OR_LOWER("attribute_not_exists(k) OR v < :v");

  private final String expression;

  WriteCondition(String expression) {
    this.expression = expression;
  }

  String expression() {
    return expression;
  }

  /** The values of the expression; null for none, since DynamoDB refuses an empty map. */
  @Nullable Map<String, AttributeValue> values(long version) {
    return this == ABSENT ? null : Map.of(":v", AttributeValue.fromN(Long.toString(version)));
  }
}
