/**
 * Locks in a table of Amazon DynamoDB, over the AWS SDK: start at {@link
 * io.mortise.dynamodb.DynamoDbStore}. The document store in core decides what a lock does; here a
 * document is read and replaced.
 */
@NullMarked
package io.mortise.dynamodb;

import org.jspecify.annotations.NullMarked;
