/**
 * Locks in a table of Amazon DynamoDB, over the AWS SDK: start at {@link
 * io.mortise.dynamodb.DynamoDbStore}. What a lock does is decided by the document store in core;
 * here a document is read and replaced.
 */
@NullMarked
package io.mortise.dynamodb;

import org.jspecify.annotations.NullMarked;
