package io.mortise.field;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The public threads that a test tries here, each a row of {@code field-reports.md}. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface Report {
  /** Such as {@code redisson/redisson#3052}. */
  String[] value();
}
