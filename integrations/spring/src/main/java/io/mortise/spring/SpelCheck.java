package io.mortise.spring;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;

/** Finds parts of an expression that no call could evaluate, so that it is refused at start. */
final class SpelCheck {
  private static final Pattern BY_INDEX = Pattern.compile("[ap](\\d{1,3})");

  private final String template;
  private final int count;
  private final @Nullable String @Nullable [] names;

  /**
   * For one method.
   *
   * @param count of its parameters
   * @param names of its parameters; null if unknown
   */
  SpelCheck(String template, int count, @Nullable String @Nullable [] names) {
    this.template = template;
    this.count = count;
    this.names = names;
  }

  /**
   * Returns if the expression uses only known parameters, and no root object.
   *
   * @throws IllegalArgumentException if it does not
   */
  void check(SpelNode node) {
    check(node, false);
  }

  /**
   * As {@link #check(SpelNode)}.
   *
   * @param ofElement whether the node is evaluated for an element of a list
   */
  private void check(SpelNode node, boolean ofElement) {
    if (node instanceof VariableReference) {
      checkVariable(node.toStringAST().substring(1), ofElement);
    } else if (node instanceof PropertyOrFieldReference || node instanceof MethodReference) {
      if (!ofElement) {
        throw new IllegalArgumentException(
            "the name '"
                + template
                + "' has '"
                + node.toStringAST()
                + "' without an object. Write a parameter as #{#"
                + node.toStringAST()
                + "}, or a bean as #{@bean.method()}");
      }
      checkChildren(node, 0, ofElement);
    } else if (node instanceof CompoundExpression) {
      check(node.getChild(0), ofElement);
      for (int i = 1; i < node.getChildCount(); i++) {
        // Evaluated on the preceding node; its own arguments are not.
        SpelNode link = node.getChild(i);
        if (link instanceof Projection || link instanceof Selection) {
          checkChildren(link, 0, true);
        } else {
          checkChildren(link, 0, ofElement || link instanceof Indexer);
        }
      }
    } else if (node instanceof InlineMap) {
      for (int i = 1; i < node.getChildCount(); i += 2) {
        check(node.getChild(i), ofElement);
      }
    } else {
      checkChildren(node, 0, ofElement);
    }
  }

  private void checkChildren(SpelNode node, int from, boolean ofElement) {
    for (int i = from; i < node.getChildCount(); i++) {
      check(node.getChild(i), ofElement);
    }
  }

  private void checkVariable(String name, boolean ofElement) {
    Matcher byIndex = BY_INDEX.matcher(name);
    if ((ofElement && (name.equals("this") || name.equals("root")))
        || (byIndex.matches() && Integer.parseInt(byIndex.group(1)) < count)) {
      return;
    }
    if (names == null) {
      throw new IllegalArgumentException(
          "the name '"
              + template
              + "' asks for #"
              + name
              + ", and names of parameters are not in the class file. Compile with -parameters, or"
              + " write #p0 for the first one");
    }
    List<@Nullable String> known = Arrays.asList(names);
    if (known.stream().noneMatch(each -> Objects.equals(each, name))) {
      throw new IllegalArgumentException(
          "the name '"
              + template
              + "' asks for #"
              + name
              + ", and the method's parameters are "
              + known
              + ". Name one of them");
    }
  }
}
